"""How long functions take."""

from __future__ import annotations

from time import perf_counter
from typing import Any, TextIO

from core import backend
from plugins.function_hooks.measure import Measuring, in_unit, print_table

_UNITS = (("sec", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


class TimerHook(Measuring):
    """Measure the time of every forward and backward.

    A device is waited for before and after, so figures are whole and training is slower. In
    `call_history` are pairs of a function's label and seconds.

    >>> import core, numpy as np
    >>> x = core.Variable(np.ones(3, "f"))
    >>> with TimerHook() as timer:
    ...     y = x * x
    >>> timer.summary()["Multiply"]["occurrence"]
    1
    """

    name = "TimerHook"

    def _read(self, arrays: tuple[Any, ...]) -> float:
        for array in arrays:
            if array is not None:
                backend.of(array).synchronize()
                break
        return perf_counter()

    def total_time(self) -> float:
        """Seconds spent in all functions together."""
        return float(sum(seconds for _, seconds in self.call_history))

    def summary(self) -> dict[str, dict[str, Any]]:
        """For each label `elapsed_time` in seconds and `occurrence`, the number of calls."""
        found: dict[str, dict[str, Any]] = {}
        for label, seconds in self.call_history:
            entry = found.setdefault(label, {"elapsed_time": 0.0, "occurrence": 0})
            entry["elapsed_time"] += seconds
            entry["occurrence"] += 1
        return found

    def print_report(self, file: TextIO | None = None, unit: str = "auto") -> None:
        """Print the summary as a table, the longest time first.

        `unit` is sec, ms, us, ns, or auto for the one that suits each figure; `file` is standard
        output where None.
        """
        entries = sorted(self.summary().items(), key=lambda item: -item[1]["elapsed_time"])
        rows = [
            (label, in_unit(entry["elapsed_time"], _UNITS, unit), str(entry["occurrence"]))
            for label, entry in entries
        ]
        print_table(("FunctionName", "ElapsedTime", "Occurrence"), rows, file)
