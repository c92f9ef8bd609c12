"""A record of what was observed, as a JSON file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from core.errors import refuse_removed
from core.reporter import DictSummary
from core.serializer import AbstractSerializer
from core.training import Extension, get_trigger
from plugins.serializers.atomic import replacing
from plugins.training.extensions.slips import warn_of_slips


class LogReport(Extension):
    """Averages what is observed and, whenever `trigger` fires, adds the means to a JSON file.

    The file, `filename` in the trainer's directory, is a list with one object per record: the means
    since the last record of `keys` (or of everything), 'epoch', 'iteration' and 'elapsed_time' in
    seconds. It is replaced as a whole, so that a reader never meets half a file. `filename` may
    have fields, as 'log_{epoch}', and None writes no file. `postprocess(record)` may change a
    record before it is added. `log` is the list itself, for other extensions.
    """

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], Any] | None = None,
        filename: str | None = "log",
        **kwargs: Any,
    ) -> None:
        filename = kwargs.pop("log_name", filename)  # its name in version 3
        refuse_removed("LogReport", kwargs, {}, LogReport)
        self._keys = None if keys is None else list(keys)
        self._trigger = get_trigger(trigger)
        self._postprocess = postprocess
        self._filename = filename
        self._summary = DictSummary()
        self._log: list[dict[str, Any]] = []

    @property
    def log(self) -> list[dict[str, Any]]:
        """The records so far."""
        return self._log

    def __call__(self, trainer: Any) -> None:
        """Take the observation into account; when it is time, add a record."""
        observed = trainer.observation
        if self._keys is not None:
            observed = {key: observed[key] for key in self._keys if key in observed}
        self._summary.add(observed)
        if self._trigger(trainer):
            if not self._log and self._keys is not None:
                warn_of_slips("LogReport", self._keys, trainer.observation)
            self._add_record(trainer)

    def _add_record(self, trainer: Any) -> None:
        record = {key: float(mean) for key, mean in self._summary.compute_mean().items()}
        self._summary = DictSummary()
        if hasattr(trainer.updater, "epoch"):  # there may be no data to go through
            record["epoch"] = trainer.updater.epoch
        record["iteration"] = trainer.updater.iteration
        record["elapsed_time"] = trainer.elapsed_time
        if self._postprocess is not None:
            self._postprocess(record)
        self._log.append(record)
        if self._filename is not None:
            with replacing(Path(trainer.out) / self._filename.format(**record)) as temporary:
                temporary.write_text(json.dumps(self._log, indent=4) + "\n", encoding="utf-8")

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the records, and what was observed since the last one."""
        if hasattr(self._trigger, "serialize"):
            self._trigger.serialize(serializer["trigger"])
        self._summary.serialize(serializer["summary"])
        self._log = json.loads(serializer("log", json.dumps(self._log)))
