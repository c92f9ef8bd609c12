"""The log as a table on the terminal, or in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from core.link.html import table
from core.link.serializer import AbstractSerializer
from core.training import Extension
from plugins.training.extensions.log_report import LogReport
from plugins.training.extensions.notebook import Output, in_notebook
from plugins.training.extensions.slips import warn_of_slips
from plugins.training.extensions.terminal import Terminal, columns, right

if TYPE_CHECKING:
    from core.training import Loop

_NARROWEST = 9
_MOST = 200
"""Records that a notebook shows."""


class PrintReport(Extension):
    """Print `entries` of the log as the columns of a table, a line for each record.

    `log_report` is the name of the trainer's LogReport, or a LogReport of its own. `out` is
    where to print, by default the standard output; in a notebook, a table below the cell that grows
    while the training runs, up to 200 records, and then has the last ones. On a narrow terminal
    titles take several lines. A resumed run prints the whole table again. An entry that nothing
    reports leaves its column empty, with a warning where a name much like it is reported. A
    terminal that goes away does not end the training.

    >>> from types import SimpleNamespace
    >>> log = LogReport(filename=None, trigger=lambda trainer: True)
    >>> table = PrintReport(["epoch", "loss"], log)
    >>> for epoch in (1, 2):
    ...     updater = SimpleNamespace(epoch=epoch, iteration=epoch)
    ...     observed = {"loss": 1 / epoch}
    ...     table(SimpleNamespace(updater=updater, observation=observed, elapsed_time=1.0))
        epoch       loss
    ─────────  ─────────
            1    1.00000
            2    0.50000
    """

    def __init__(
        self,
        entries: Sequence[str],
        log_report: str | LogReport = "LogReport",
        out: TextIO | None = None,
    ) -> None:
        self._entries = [entries] if isinstance(entries, str) else list(entries)
        self._log_report = log_report
        # A log of its own takes the means over all ranks.
        self.ranks = "together" if isinstance(log_report, LogReport) else "first"
        self._terminal = Terminal(type(self).__name__, out)
        self._in_notebook = out is None and in_notebook()
        self._output = Output(type(self).__name__)
        self._head: list[list[str]] | None = None
        self._printed = 0

    def initialize(self, trainer: Loop) -> None:
        """Check before training that there is a log."""
        report = self._log(trainer)
        if report is self._log_report:
            report.communicator = self.communicator
            report.initialize(trainer)

    def collect(self) -> None:
        """Collect what the LogReport has observed, if it is not the trainer's."""
        if isinstance(self._log_report, LogReport):
            self._log_report.collect()

    def _log(self, trainer: Loop) -> LogReport:
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

    def __call__(self, trainer: Loop) -> None:
        """Print the records that were added since the last call."""
        report = self._log(trainer)
        if report is self._log_report:
            report(trainer)
        if len(report.log) == self._printed or not self.leads:
            return
        if not self._printed:
            warn_of_slips("PrintReport", self._entries, report.log[0])
        if self._in_notebook:
            self._output.show(self._html(report.log))
        else:
            self._print(report.log[self._printed :])
        self._printed = len(report.log)

    def _print(self, records: list[dict[str, Any]]) -> None:
        if self._head is None:
            self._head = self._titles()
        widths = [max(*map(columns, title), _NARROWEST) for title in self._head]
        rows = [self._cells(record) for record in records]
        if not self._printed:
            stroke = "─" if self._terminal.shows("─") else "-"
            head = [list(line) for line in zip(*self._head, strict=True)]
            rows = [*head, [stroke * width for width in widths], *rows]
        lines = ["  ".join(map(right, row, widths)) for row in rows]
        self._terminal.print("\n".join(lines))

    def _titles(self) -> list[list[str]]:
        """The lines of every column's title: several where the terminal is too narrow for one."""
        titles = [self._terminal.fit(entry) for entry in self._entries]
        width = sum([max(columns(title), _NARROWEST) + 2 for title in titles]) - 2
        if width <= self._terminal.width:
            return [[title] for title in titles]
        parts = [title.replace("/", "/\n").split("\n") for title in titles]
        height = max(map(len, parts))
        return [[""] * (height - len(lines)) + lines for lines in parts]

    def _cells(self, record: dict[str, Any]) -> list[str]:
        return [self._terminal.fit(_cell(e, record.get(e, ""))) for e in self._entries]

    def _html(self, log: list[dict[str, Any]]) -> str:
        shown = log[-_MOST:]  # the whole table is sent anew each time
        rows = [[_cell(e, record.get(e, "")) for e in self._entries] for record in shown]
        earlier = len(log) - len(shown)
        return table(f"after {earlier} earlier ones" * bool(earlier), [self._entries, *rows], "th")

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the LogReport, if it is not the trainer's."""
        if isinstance(self._log_report, LogReport):
            self._log_report.serialize(serializer["log_report"])

    def finalize(self) -> None:
        """Finalize the LogReport, if it is not the trainer's."""
        if isinstance(self._log_report, LogReport):
            self._log_report.finalize()


class PrintReportNotebook(PrintReport):
    """A `PrintReport` that shows its table as HTML if IPython can display it."""

    def __init__(self, entries: Sequence[str], log_report: str | LogReport = "LogReport") -> None:
        super().__init__(entries, log_report)
        self._in_notebook = True


def _cell(entry: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if entry == "elapsed_time":
        return f"{value:.1f}"
    plain = value == 0 or 1e-3 <= abs(value) < 1e4
    return f"{value:.5f}" if plain else f"{value:.3e}"
