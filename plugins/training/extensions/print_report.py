"""The log as a table on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TextIO

from core.serializer import AbstractSerializer
from core.training import Extension
from plugins.training.extensions.log_report import LogReport
from plugins.training.extensions.slips import warn_of_slips

_NARROWEST = 9


class PrintReport(Extension):
    """Prints chosen `entries` of the log as the columns of a table, a line for each record.

    `log_report` is the name of the trainer's LogReport, or a LogReport of its own. `out` is
    where to print, by default the standard output. A resumed run prints the whole table again.
    An entry that nothing reports leaves its column empty, with a warning that offers the nearest.
    """

    def __init__(
        self,
        entries: Sequence[str],
        log_report: str | LogReport = "LogReport",
        out: TextIO | None = None,
    ) -> None:
        self._entries = list(entries)
        self._log_report = log_report
        self._out = out
        self._widths = [max(len(entry), _NARROWEST) for entry in self._entries]
        self._printed = 0

    def initialize(self, trainer: Any) -> None:
        """Check that there is a log, before hours of training."""
        self._log(trainer)

    def _log(self, trainer: Any) -> LogReport:
        if isinstance(self._log_report, LogReport):
            return self._log_report
        try:
            report: LogReport = trainer.get_extension(self._log_report)
        except ValueError as error:
            raise ValueError(
                f"PrintReport: expected the trainer to have a LogReport called "
                f"{self._log_report!r}. Add one, as with trainer.extend(extensions.LogReport()). "
                f"{error}"
            ) from None
        return report

    def __call__(self, trainer: Any) -> None:
        """Print the records that were added since the last call."""
        report = self._log(trainer)
        if report is self._log_report:
            report(trainer)
        records = report.log[self._printed :]
        if not records:
            return
        lines = [self._line(record) for record in records]
        if not self._printed:
            warn_of_slips("PrintReport", self._entries, records[0])
            lines = [*self._head(), *lines]
        self._printed = len(report.log)
        print_beside_bars("\n".join(lines), self._out or sys.stdout)

    def _head(self) -> list[str]:
        titles = [f"{e:>{w}}" for e, w in zip(self._entries, self._widths, strict=True)]
        stroke = _stroke(self._out or sys.stdout)
        return ["  ".join(titles), "  ".join(stroke * width for width in self._widths)]

    def _line(self, record: dict[str, Any]) -> str:
        cells = [_cell(entry, record.get(entry, "")) for entry in self._entries]
        return "  ".join(f"{c:>{w}}" for c, w in zip(cells, self._widths, strict=True))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the LogReport, if it is not the trainer's."""
        if isinstance(self._log_report, LogReport):
            self._log_report.serialize(serializer["log_report"])


def _cell(entry: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if entry == "elapsed_time":
        return f"{value:.1f}"
    plain = value == 0 or 1e-3 <= abs(value) < 1e4
    return f"{value:.5f}" if plain else f"{value:.3e}"


def _stroke(out: TextIO) -> str:
    """A line where the terminal can show one."""
    try:
        "─".encode(getattr(out, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "-"
    return "─"


def print_beside_bars(text: str, out: TextIO) -> None:
    """Print above the progress bars that stand on the terminal, if any."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is None:
        print(text, file=out, flush=True)
    else:
        tqdm.tqdm.write(text, file=out)
        out.flush()
