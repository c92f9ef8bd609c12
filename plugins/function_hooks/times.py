"""What timers make of their measurements: sums and a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from plugins.function_hooks.measure import in_unit, print_table

TIMES = (("sec", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


class Times(ABC):
    """Sums over `call_history`, pairs of what was called and seconds; `head` is their title."""

    head: str
    call_history: list[Any]

    @abstractmethod
    def _kind(self, called: Any) -> str:
        """Under which name `called` is summed up."""

    def total_time(self) -> float:
        """Seconds spent in all calls together."""
        return float(sum(seconds for _, seconds in self.call_history))

    def summary(self) -> dict[str, dict[str, Any]]:
        """For each class `elapsed_time` in seconds and `occurrence`, the number of calls."""
        found: dict[str, dict[str, Any]] = {}
        for called, seconds in self.call_history:
            entry = found.setdefault(self._kind(called), {"elapsed_time": 0.0, "occurrence": 0})
            entry["elapsed_time"] += seconds
            entry["occurrence"] += 1
        return found

    def print_report(self, file: Any = None, unit: Any = "auto") -> None:
        """Print the summary as a table, the longest time first.

        `unit` is sec, ms, us, ns, or auto for the one that suits each figure; `file` is standard
        output where None. The unit may come first as well, as in `print_report("ms")`.
        """
        if isinstance(file, str):
            file, unit = (None if unit == "auto" else unit), file
        entries = sorted(self.summary().items(), key=lambda item: -item[1]["elapsed_time"])
        rows = [
            (label, in_unit(entry["elapsed_time"], TIMES, unit), str(entry["occurrence"]))
            for label, entry in entries
        ]
        print_table((self.head, "ElapsedTime", "Occurrence"), rows, file)
