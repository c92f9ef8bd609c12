"""The entry points that distributions declare, each distribution for itself.

The library that reads them stops at the first file that is malformed, of whatever distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.errors import PluginError

GROUP = "plugrad"
FILE = "entry_points.txt"


class Malformed:
    """Stands for the entry points of a distribution whose file cannot be read."""

    group = GROUP
    value = FILE

    def __init__(self, dist: Any, error: Exception) -> None:
        self.dist = dist
        self.name = _name_of(dist)
        self._error = error

    def load(self) -> Any:
        """Raise PluginError, which says what is wrong with the file."""
        raise PluginError(
            f"the file {FILE} of {self.name} is malformed{_wrong_line(self.dist)}. Install "
            f"{self.name} again, or uninstall it: python -m pip uninstall {self.name}"
        ) from self._error


def installed() -> Iterable[Any]:
    """The environment's entry points of the group `plugrad`."""
    import importlib_metadata

    try:
        return importlib_metadata.entry_points(group=GROUP)
    except Exception:  # which tells neither the distribution nor the line
        return [*_of_each(importlib_metadata.distributions())]


def declared(distribution: Any) -> list[Any]:
    """The entry points of a distribution in the group `plugrad`; one Malformed for a bad file."""
    try:
        return [entry for entry in distribution.entry_points if entry.group == GROUP]
    except Exception as error:  # of whatever cannot be read
        return [Malformed(distribution, error)]


def _of_each(distributions: Iterable[Any]) -> Iterator[Any]:
    """Those of all distributions, the first of each name, which is the one that is imported."""
    seen = set()
    for distribution in distributions:
        name = _name_of(distribution)
        if name not in seen:
            seen.add(name)
            yield from declared(distribution)


def _name_of(distribution: Any) -> str:
    try:
        return str(distribution.name or "unknown")
    except Exception:  # of metadata as malformed
        return str(getattr(distribution, "_path", "unknown"))


def _wrong_line(distribution: Any) -> str:
    try:
        text = distribution.read_text(FILE) or ""
    except Exception as error:
        return f" ({error})"
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if line and not line.startswith(("#", "[")) and "=" not in line:
            return f": expected 'name = module:object' in line {number}, got {line!r:.60}"
    return ""
