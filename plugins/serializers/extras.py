"""Libraries that only some files need, imported when such a file is met."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def need(module: str, extra: str, who: str) -> Any:
    """The module called `module`; ImportError, naming the extra that brings it, where it lacks."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{who} needs the library {module.partition('.')[0]}, which cannot be imported "
            f"({error}). Install it with `pip install 'plugrad[{extra}]'`, or use save_npz and "
            "load_npz, which need nothing."
        ) from error
