"""The order in which Chainer numbers the links of a Sequential, by which files name them."""

from __future__ import annotations

from functools import wraps
from typing import Any

from core import Link, Sequential


def switch() -> None:
    """Number the first link, and then the others backwards, as Chainer does."""
    place = Sequential._place

    @wraps(place)
    def _place(self: Any, layers: list[Any]) -> None:
        place(self, layers)
        self._install(_numbered(layers))

    Sequential._place = _place  # type: ignore[method-assign]


def _numbered(layers: list[Any]) -> list[Link]:
    """Links that stand once each, as they are numbered; each goes behind where the first stands."""
    found: list[Link] = []
    first = 0
    for i, layer in enumerate(layers):
        if isinstance(layer, Link) and not any(layer is other for other in found):
            first = first if found else i
            found.insert(0 if not found else first + 1, layer)
    return found
