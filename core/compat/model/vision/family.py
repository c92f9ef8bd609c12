"""The names of one family, found among all links when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any


def family(module: str, *networks: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module with `networks`, and `prepare` of the first."""

    def find(name: str) -> Any:
        from core import links

        if name == "prepare":
            return getattr(links, networks[0]).prepare
        if name == "available":  # whether images can be resized
            return find_spec("PIL") is not None
        if name in networks:
            return getattr(links, name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find, lambda: sorted([*networks, "available", "prepare"])
