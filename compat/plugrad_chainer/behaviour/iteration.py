"""Variables have elements to go over, and are no `Iterable` to Python: they have no `__iter__`."""

from __future__ import annotations

from typing import Any

from core.graph.protocols import Protocols


def switch() -> None:
    """Let Python take the elements by their numbers, as it does where there is no `__iter__`."""
    protocols: Any = Protocols
    del protocols.__iter__
