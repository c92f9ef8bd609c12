"""What the object behind a name of each kind has to be, as the hooks' contract says."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from core.registry.kinds import HOOKS
from core.registry.lazy import resolve

_TYPES: dict[str, Any] = {
    "callable": Callable,
    "function": FunctionType,
    "module": ModuleType,
    "number": (int, float),
}
"""The words of `Kind.takes`."""


def misfit(kind: str, value: Any) -> str:
    """What was expected of `kind` and what came instead; '' where `value` is of that kind.

    >>> misfit("functions", 3)
    'expected a callable, got 3, an int'
    >>> misfit("links", dict)
    'expected a subclass of core.Link, got the class dict'
    """
    row = HOOKS[f"register_{kind}"]
    fits = any(_fits(value, what) for what in row.takes.split(" | "))
    return "" if fits else f"expected {row.expected}, got {_shown(value)}"


def _fits(value: Any, what: str) -> bool:
    if ":" in what:
        return isinstance(value, type) and issubclass(value, resolve(what))
    return isinstance(value, _TYPES[what])


def _shown(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, (FunctionType, ModuleType)):
        return f"the {type(value).__name__} {value.__name__}"
    text = repr(value)
    kind = type(value).__qualname__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return f"{text}, {article} {kind}" if len(text) < 40 else f"{article} {kind}"
