"""How values are distributed, time after time, as a JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import Link, Variable
from core.arrays import backend
from core.errors.kinds import checked
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import Extension
from plugins.training.extensions.distribution import check_names
from plugins.training.extensions.report_file import ReportFile
from plugins.training.extensions.slips import warn_of_slips

if TYPE_CHECKING:
    from core.training import Loop

MOST = 64
"""Of more records every second one is left out, and from then on every second one not taken."""


class HistogramReport(Extension):
    """Write histograms of parameters, gradients and observed arrays, once an epoch by default.

    The file, `filename` in the trainer's directory, is a JSON list with an object for each time:
    'iteration', and 'histograms' from names, as `l1/W/data` and `l1/W/grad`, to objects with 'low',
    'high', 'counts' of so many bins of one width between them, and 'nonfinite', how many values are
    in none. Where there are more than 64 times, every second one is left out. `plugrad watch`
    draws them.

    Args:
        targets: Links (all their parameters) and names of observed arrays, one or several.
        bins: How many, from 1 to 200.
        grads: Whether gradients are taken, too.
        filename: The file.

    In `trainer.extend(..., trigger=(100, "iteration"))` another time can be chosen. Raises
    ValueError where parameters of two links would have one name.

    >>> from types import SimpleNamespace
    >>> import core.links as L, tempfile
    >>> trainer = SimpleNamespace(
    ...     out=tempfile.mkdtemp(), updater=SimpleNamespace(iteration=3), observation={}
    ... )
    >>> HistogramReport(L.Linear(2, 2, initialW=3), bins=2)(trainer)
    >>> json.loads((Path(trainer.out) / "histograms.json").read_text())[0]["histograms"]["W/data"]
    {'low': 3.0, 'high': 3.0, 'counts': [0, 4], 'nonfinite': 0}
    """

    trigger = (1, "epoch")
    ranks = "first"

    @checked
    def __init__(
        self,
        targets: str | Link | Iterable[str | Link],
        bins: int = 40,
        grads: bool = True,
        filename: str = "histograms.json",
    ) -> None:
        if not 1 <= bins <= 200:
            raise ValueError(f"HistogramReport: expected from 1 to 200 bins, got {bins!r}.")
        one = isinstance(targets, str | Link) or not isinstance(targets, Iterable)
        listed: Any = [targets] if one else targets
        self._targets: list[str | Link] = list(listed)
        for target in self._targets:
            if not isinstance(target, str | Link):
                raise TypeError(
                    "HistogramReport: expected links or names of observed arrays, got "
                    f"{type(target).__name__}."
                )
        check_names("HistogramReport", [each for each in listed if isinstance(each, Link)])
        self._bins = bins
        self._grads = grads
        self._filename = filename
        self._file = ReportFile("HistogramReport")
        self._records: list[dict[str, Any]] = []
        self._calls, self._every, self._at = 0, 1, -1
        self._is_resumed = False

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """What stands where the file goes."""
        return self._file.standing(trainer.out, self._filename)

    def __call__(self, trainer: Loop) -> None:
        """Take the histograms, and write the file."""
        names = [target for target in self._targets if isinstance(target, str)]
        warn_of_slips("HistogramReport", names, trainer.observation)
        is_resumed, self._is_resumed = self._is_resumed, False
        if is_resumed and self._at == trainer.updater.iteration:  # of which it has been taken
            return
        self._at = trainer.updater.iteration
        due = self._calls % self._every == 0
        self._calls += 1
        if not due:
            return
        found = {name: histogram(array, self._bins) for name, array in self._arrays(trainer)}
        self._records.append({"iteration": trainer.updater.iteration, "histograms": found})
        if len(self._records) > MOST:
            self._records = self._records[::2]
            self._every *= 2
        text = json.dumps(self._records) + "\n"
        path = Path(trainer.out) / self._filename
        self._file.write(path, partial(Path.write_text, data=text, encoding="utf-8"))

    def _arrays(self, trainer: Loop) -> Iterator[tuple[str, Any]]:
        for target in self._targets:
            if isinstance(target, str):
                if target in trainer.observation:
                    yield target, trainer.observation[target]
                continue
            prefix = f"{target.name}/" if target.name else ""
            for path, parameter in target.namedparams(include_uninit=False):
                for what in ("data", "grad")[: 1 + self._grads]:
                    array = getattr(parameter, what)
                    if array is not None:
                        yield f"{prefix}{path.lstrip('/')}/{what}", array

    def finalize(self) -> None:
        """See that the file holds all records."""
        self._file.finish()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the records so far."""
        state = json.dumps([self._calls, self._every, self._records])
        self._calls, self._every, self._records = json.loads(serializer("state", state))
        self._at = int(serializer.optional_value("at", self._at))
        self._is_resumed = isinstance(serializer, Deserializer)


def histogram(given: Any, bins: int) -> dict[str, Any]:
    """The range of the finite values, and how many are in each of the bins that it is cut into.

    >>> histogram(np.array([0, 1, 2, 2, np.nan]), 2)
    {'low': 0.0, 'high': 2.0, 'counts': [1, 3], 'nonfinite': 1}
    """
    array = given.array if isinstance(given, Variable) else given
    values = np.asarray(backend.to_host(array)).astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    # Of halves the difference is finite wherever the values are.
    span = high / 2 - low / 2
    share = (finite / 2 - low / 2) / span if span > 0 else np.ones_like(finite)
    places = np.minimum((share * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins).tolist()
    return {"low": low, "high": high, "counts": counts, "nonfinite": values.size - finite.size}
