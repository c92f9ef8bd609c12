"""A record of what was observed, as a JSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import nearest, place
from core.errors.kinds import checked
from core.errors.removed import removed
from core.errors.scalars import python_number
from core.errors.set_by_init import set_by_init
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import Extension, TriggerSpec
from core.training.reporter import DictSummary
from plugins.training.extensions.observed import Observed
from plugins.training.extensions.report_file import ReportFile

if TYPE_CHECKING:
    from core.training import Loop

MANY = 1000
"""A file of more records may wait for further ones."""

_FORMATS = ("json", "jsonl")


class LogReport(Extension):
    """Average what is observed, and add the means to a JSON file whenever `trigger` fires.

    Where several ranks train together, the means are those over all of them: all have the same
    `log`, and the first one writes the file.

    The file, `filename` in the trainer's directory, has one object for each record: the means since
    the last record of `keys` (or of everything), 'epoch', 'iteration' and 'elapsed_time' in
    seconds. `filename` may have fields, as 'log_{epoch}', and None writes no file. A name that ends
    in '.jsonl', or `format='jsonl'`, gives JSON lines, a line for a record; otherwise it is a list
    ('json'). `postprocess(record)` may change a record before it is added. `log` is the list
    itself, for other extensions.

    The file is replaced as a whole: a reader never meets half of one. From 1,000 records on it is
    replaced less often, so that this takes a twentieth of the time at most: what is new may come
    some tenths of a second later, and is all there at the end. One that cannot be written
    (a full disk) is a warning and tried again with the next record; only at the end it is an error.
    There is a warning, too, when a loss is not a number any more, and where a trigger given to
    `extend` lets it see some of the iterations alone.

    >>> import core, core.links as L, tempfile
    >>> from core import iterators, optimizers, training
    >>> from core.training import extensions
    >>> batches = iterators.SerialIterator(range(4), 2)
    >>> optimizer = optimizers.SGD().setup(L.Linear(1, 1))
    >>> run = training.Run(batches, optimizer, (2, "epoch"), out=tempfile.mkdtemp())
    >>> run.extend(extensions.LogReport(filename="log.jsonl"))
    >>> with run:
    ...     for batch in run:
    ...         core.report({"sum": sum(batch)})
    >>> [(record["epoch"], record["sum"]) for record in run.get_extension("LogReport").log]
    [(1, 3.0), (2, 3.0)]
    """

    ranks = "together"

    _observed: Observed = set_by_init()
    _log: list[dict[str, Any]] = set_by_init()

    @checked
    @removed(renamed={"log_name": "filename"})
    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: TriggerSpec = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], Any] | None = None,
        filename: str | None = "log",
        *,
        format: str | None = None,
    ) -> None:
        if format not in (None, *_FORMATS):
            raise ValueError(
                f"LogReport: expected format 'json' or 'jsonl', got {format!r}."
                + nearest(str(format), _FORMATS)
            )
        self._observed = Observed("LogReport", keys, trigger)
        self._keys = self._observed.keys
        self._postprocess = postprocess
        self._filename = filename
        self._lines = format == "jsonl" or (
            format is None and filename is not None and filename.endswith(".jsonl")
        )
        self._file = ReportFile("LogReport")
        self._log = []
        self._written: list[str] = []  # the records as they stand in the file
        self._diverged = False
        self._begins_at: int | None = None  # until the first call

    @property
    def log(self) -> list[dict[str, Any]]:
        """The records so far."""
        return self._log

    def __call__(self, trainer: Loop) -> None:
        """Take the observation into account; when it is time, add a record."""
        self._warn_of_gap(trainer)
        summary = self._observed(trainer)
        if summary is not None:
            self._add_record(trainer, summary)

    def initialize(self, trainer: Loop) -> None:
        """Let the means be those over all ranks, where these call it together."""
        self._observed.begin(trainer, self.communicator)
        self._begins_at = trainer.updater.iteration

    def collect(self) -> None:
        """Let the first rank have what was observed on all since the last record."""
        self._observed.collect()

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """What stands where the file goes, with the run if it can be known."""
        for path, _ in self._file.standing(trainer.out, self._filename):
            yield path, self._run_of(path, trainer)

    def _run_of(self, path: Path, trainer: Loop) -> str | None:
        """The trainer's run where the file begins as the log that was loaded; '' for another one.

        None where no log was loaded that would have to be in the file.
        """
        try:
            text = path.read_text(encoding="utf-8")
            first = json.loads(text.partition("\n")[0]) if self._lines else json.loads(text)[0]
            if self._log:  # their times alone differ between runs
                return trainer.run_id if json.dumps(first) == json.dumps(self._log[0]) else ""
            return "" if first["iteration"] <= trainer.updater.iteration else None
        except (OSError, ValueError, LookupError, TypeError):  # not written by a LogReport
            return None

    def _add_record(self, trainer: Loop, summary: DictSummary) -> None:
        record = {key: float(mean) for key, mean in summary.compute_mean().items()}
        self._warn_of_divergence(record, trainer.updater.iteration)
        if hasattr(trainer.updater, "epoch"):  # there may be no data to go through
            record["epoch"] = trainer.updater.epoch
        record["iteration"] = trainer.updater.iteration
        record["elapsed_time"] = trainer.elapsed_time
        if self._postprocess is not None:
            self._postprocess(record)
            record = _plain(record)
        self._log.append(record)
        if self._filename is not None and self.leads:
            count = len(self._log)
            self._file.write(
                Path(trainer.out) / self._named_by(record),
                lambda path: path.write_text(self._text(count), encoding="utf-8"),
                often=count > MANY,
            )

    def _named_by(self, record: dict[str, Any]) -> str:
        filename = str(self._filename)
        try:
            return filename.format(**record)
        except (KeyError, IndexError) as error:
            field = str(error.args[0])
            raise ValueError(
                f"LogReport: expected filename {filename!r} to have fields that a record has "
                f"({', '.join(record)}).{nearest(field, record)}"
            ) from None

    def _warn_of_gap(self, trainer: Loop) -> None:
        """Warn where the first call comes late: `extend` has got the trigger that is meant here."""
        begins_at, self._begins_at = self._begins_at, None
        if begins_at is None or getattr(trainer, "is_resumed", False) or not self.leads:
            return
        iteration = trainer.updater.iteration
        if iteration > begins_at + 1:
            place.warn(
                f"LogReport: the first call is at iteration {iteration}, so that its means are "
                "over the iterations in which it is called alone. Say by LogReport(trigger=...) "
                "when there is to be a record, and not by extend(..., trigger=...)."
            )

    def _warn_of_divergence(self, record: dict[str, Any], iteration: int) -> None:
        bad = [key for key in record if key.endswith("loss") and not math.isfinite(record[key])]
        if bad and not self._diverged and self.leads:
            place.warn(
                f"LogReport: {' and '.join(map(repr, bad))} became {record[bad[0]]} by iteration "
                f"{iteration}. See whether the data have NaN, lower the learning rate, or add the "
                "optimizer hook GradientClipping; core.set_debug(True) shows where it begins, and "
                "the extension FailOnNonNumber ends the training.",
            )
        self._diverged = bool(bad)

    def _text(self, count: int) -> str:
        """The whole file of so many records. What is new is made text: there may be thousands."""
        for record in self._log[len(self._written) : count]:
            text = json.dumps(record, indent=None if self._lines else 4)
            self._written.append(text.replace("\n", "\n    "))
        written = self._written[:count]
        if self._lines:
            return "\n".join(written) + "\n"
        return "[\n    " + ",\n    ".join(written) + "\n]\n"

    def finalize(self) -> None:
        """See that the file holds all records."""
        self._file.finish()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the records, and what was observed since the last one."""
        self._observed.serialize(serializer)
        self._log = json.loads(serializer("log", json.dumps(self._log)))
        if isinstance(serializer, Deserializer):
            self._written = []


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """A record with Python's numbers for others, as files have them."""
    plain = {key: python_number(value) for key, value in record.items()}
    for key, value in plain.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"LogReport: expected postprocess to leave numbers, text, and lists and dicts of "
                f"them, which JSON can hold; {key!r} is {value!r:.100} ({type(value).__name__})."
            ) from error
    return plain
