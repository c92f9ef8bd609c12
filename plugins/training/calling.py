"""How a loss function is called with a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def call_with(function: Callable[..., Any], arrays: Any, *first: Any) -> Any:
    """Call `function` with what a converter made: several arrays of a tuple, keywords of a dict.

    >>> call_with(pow, (2, 3)), call_with(dict, {"x": 1}), call_with(len, [1, 2])
    (8, {'x': 1}, 2)
    """
    if isinstance(arrays, tuple):
        return function(*first, *arrays)
    if isinstance(arrays, dict):
        return function(*first, **arrays)
    return function(*first, arrays)
