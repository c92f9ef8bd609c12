"""What the object behind a name of each kind has to be, as the hooks' contract says."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from core.registry.lazy import resolve

BASES = {
    "links": "core.link:Link",
    "initializers": "core.link.initializer:Initializer",
    "optimizers": "core.optimizer:Optimizer",
    "function_hooks": "core.graph.function_hook:FunctionHook",
    "link_hooks": "core.link.hook:LinkHook",
    "backends": "core.arrays.array_backend:Backend",
}
"""The class that what a hook gives derives from; other kinds ask for callables."""


def misfit(kind: str, value: Any) -> str:
    """What was expected of `kind` and what came instead; '' where `value` is of that kind.

    >>> misfit("functions", 3)
    'expected a callable, got 3, an int'
    >>> misfit("links", dict)
    'expected a subclass of core.link.Link, got the class dict'
    """
    if kind in BASES:
        base = resolve(BASES[kind])
        fits = isinstance(value, type) and issubclass(value, base)
        fits = fits or (kind == "initializers" and isinstance(value, FunctionType))
        expected = f"a subclass of {BASES[kind].replace(':', '.')}"
    else:
        # A module may be shown among extensions, a constant in the namespace.
        fits = callable(value) or isinstance(value, ModuleType) or kind == "namespace"
        expected = "a callable"
    return "" if fits else f"expected {expected}, got {_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, (FunctionType, ModuleType)):
        return f"the {type(value).__name__} {value.__name__}"
    text = repr(value)
    kind = type(value).__qualname__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return f"{text}, {article} {kind}" if len(text) < 40 else f"{article} {kind}"
