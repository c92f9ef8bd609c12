"""Lazy names: 'package.module:attribute', imported when the object is needed."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_target(text: str) -> bool:
    """Whether `text` has the form 'package.module:attribute'.

    >>> is_target("plugins.functions.math.exp:exp"), is_target("plugins.functions.exp")
    (True, False)
    """
    return _TARGET.fullmatch(text) is not None


def resolve(target: str) -> Any:
    """Import what 'package.module:attribute' names.

    >>> resolve("collections.abc:Mapping.__name__")
    'Mapping'
    """
    module, _, path = target.partition(":")
    found = None
    for end in [i for i, sign in enumerate(module) if sign == "."] + [None]:
        # The packages first: who holds a part and waits for its package, which imports that part in
        # another thread, waits for ever.
        found = importlib.import_module(module[:end])
    for attribute in path.split("."):
        found = getattr(found, attribute)
    return found


def lazily(package: str, provides: Mapping[str, str]) -> dict[str, str]:
    """Lazy names for a family of small modules: `provides` maps a module to its public names.

    >>> lazily("shapes", {"round": "circle ball", "flat": "square"})
    {'circle': 'shapes.round:circle', 'ball': 'shapes.round:ball', 'square': 'shapes.flat:square'}
    """
    return {
        name: f"{package}.{module}:{name}"
        for module, names in provides.items()
        for name in names.split()
    }
