"""What a step reports, in a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.arrays.backend import host
from core.errors import TraceError
from core.training import reporter


class Recorder(reporter.Reporter):
    """Takes what a step reports."""

    def __init__(self, found: list[tuple[Mapping[str, Any], Any]]) -> None:
        super().__init__()
        self._found = found
        self._at_first = self.observation

    def report(self, values: Mapping[str, Any], observer: Any = None) -> None:
        """Keep the values."""
        if self.observation is not self._at_first:
            raise TraceError("capture: a report_scope in the step cannot be captured.")
        for name, value in values.items():
            mean = value[:1] if isinstance(value, tuple) else value  # of a pair (value, weight)
            refuse_numbers(f"what it reports as {name!r}", mean)
        self._found.append((dict(values), observer))


def refuse_numbers(what: str, tree: Any) -> None:
    """Raise TraceError for a number of Python or NumPy: a replay would give it again and again."""
    if isinstance(tree, (tuple, list)):
        for part in tree:
            refuse_numbers(what, part)
    elif isinstance(tree, dict):
        for part in tree.values():
            refuse_numbers(what, part)
    elif isinstance(tree, (int, float, complex, host().xp.number)) and not isinstance(tree, bool):
        raise TraceError(
            f"capture: {what} is the number {tree!r}, which would stay the same. Give an array."
        )
