"""Libraries that only some names need, imported when one of these is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def need(module: str, extra: str, who: str, otherwise: str = "") -> Any:
    """The module called `module`; ImportError, naming the extra that brings it, where it lacks.

    `otherwise` is the end of the sentence that says what to do.

    >>> need("json", "image", "this").dumps([1])
    '[1]'
    >>> need("no_such.thing", "image", "ImageDataset")
    Traceback (most recent call last):
    ImportError: ImageDataset needs the library no_such, which cannot be imported \
(No module named 'no_such'). Install it with `pip install 'plugrad[image]'`.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{who} needs the library {module.partition('.')[0]}, which cannot be imported "
            f"({error}). Install it with `pip install 'plugrad[{extra}]'`{otherwise}."
        ) from error
