"""Adding to a gradient in place: only where nobody could tell that it was written to.

An old gradient may have another name, or a view, or be an array that the user gave: then a sum is a
new array. All of these hold references to the array, so counting them tells.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from core.arrays.spec import spec_of


def adds_in_place(source: Any) -> bool:
    """Whether the gradient of a source is held by the source alone, in memory of its own."""
    spec = source.spec
    if spec is None or type(source._grad) is not spec.type or _references(source) != _ALONE:
        return False
    owned: bool = spec.backend.owns(source._grad)
    return owned and spec_of(source._grad) is spec


def _references(source: Any) -> int:
    """How many references the gradient has, those of this look included."""
    gradient = source._grad
    return getrefcount(gradient)


class _Source:
    """The least that has a gradient, and holds the only reference to it."""

    __slots__ = ("_grad",)

    def __init__(self) -> None:
        self._grad = object()


_ALONE = _references(_Source())
"""The count for a gradient that nobody else holds: interpreters differ in what a look adds."""
