"""What kernels go by: the class that they stand in for, known without importing it."""

from __future__ import annotations

from typing import Any

from core.errors import PluginError


def kernel_key(whose: Any) -> str:
    """What the kernels of a class go by; a key is given back.

    >>> from collections import OrderedDict
    >>> kernel_key(OrderedDict)
    'collections:OrderedDict'
    >>> class Ordered(OrderedDict):
    ...     kernels_of = OrderedDict
    >>> kernel_key(Ordered)
    'collections:OrderedDict'
    """
    if isinstance(whose, type):
        base = whose.__dict__.get("kernels_of")
        return f"{whose.__module__}:{whose.__qualname__}" if base is None else kernel_key(base)
    if not isinstance(whose, str) or ":" not in whose:
        raise PluginError(
            f"A kernel is given for {whose!r}; expected a class or 'package.module:Class', for "
            "other classes may have the same name."
        )
    return whose
