"""Programs add entries of any name to the configuration."""

from __future__ import annotations

from functools import wraps
from typing import Any

from core.errors import UnknownName
from core.registry import configuration
from core.registry.entry_kinds import check


def switch() -> None:
    """Take entries whose names are like those of the framework."""
    accept = configuration._accept

    @wraps(accept)
    def _accept(name: str, value: Any) -> None:
        try:
            accept(name, value)
        except UnknownName:
            check(name, value)

    configuration._accept = _accept
