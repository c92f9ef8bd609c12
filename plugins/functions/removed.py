"""Arguments that functions once had, and what to write today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import removed as _removed

F = TypeVar("F", bound=Callable[..., Any])


def removed(*had: str, **cures: str) -> Callable[[F], F]:
    """Make a function refuse arguments that it once had; see `core.errors.removed`."""
    return _removed.removed(*had, cures=cures)
