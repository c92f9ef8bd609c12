"""How Chainer numbers the links of a Sequential, and repeats one: files name links by that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Link, Sequential


def switch() -> None:
    """Number the first link, and then the others backwards; one that is repeated stays whole."""
    Sequential._numbered = staticmethod(_numbered)  # type: ignore[method-assign]
    Sequential.repeat = Link.repeat  # type: ignore[method-assign]


def _numbered(layers: list[Any], is_link: Callable[[Any], bool]) -> list[Any]:
    """Links that stand once each, as they are numbered; each goes behind where the first stands."""
    found: list[Any] = []
    first = 0
    for i, layer in enumerate(layers):
        if is_link(layer) and not any(layer is other for other in found):
            first = first if found else i
            found.insert(0 if not found else first + 1, layer)
    return found
