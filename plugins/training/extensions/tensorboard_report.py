"""What was observed, for TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.link.serializer import AbstractSerializer
from core.training import Extension, TriggerSpec
from plugins.training.extensions.observed import Observed

if TYPE_CHECKING:
    from core.training import Loop


class TensorBoardReport(Extension):
    """Average what is observed, and write the means as scalars whenever `trigger` fires.

    They are those of `keys`, or all, over the iterations since the last time, and over all ranks
    that train together, of which the first writes; the iteration is their step.
    `postprocess(record)` may change the dict of means before it is written. The event files lie in
    `directory` in the trainer's: `tensorboard --logdir result` shows the curves. A resumed run adds
    a file of its own, which makes TensorBoard forget the steps that it repeats.

    `writer` is anything with `add_scalar(name, value, step)`, such as your own SummaryWriter,
    which is left open. Without one, tensorboardX is needed: `pip install 'plugrad[tensorboard]'`.

    >>> from types import SimpleNamespace
    >>> writer = SimpleNamespace(add_scalar=print)
    >>> report = TensorBoardReport(trigger=lambda trainer: True, writer=writer)
    >>> updater = SimpleNamespace(iteration=7)
    >>> report(SimpleNamespace(updater=updater, observation={"main/loss": 0.5}))
    main/loss 0.5 7
    """

    ranks = "together"

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: TriggerSpec = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], Any] | None = None,
        directory: str = "tensorboard",
        writer: Any = None,
    ) -> None:
        self._observed = Observed("TensorBoardReport", keys, trigger)
        self._postprocess = postprocess
        self._directory = directory
        self._given = writer
        self._writer = writer

    def initialize(self, trainer: Loop) -> None:
        """Check before training that a writer is available."""
        self._observed.begin(trainer, self.communicator)
        if self._given is None and self.leads:
            _summary_writer()

    def collect(self) -> None:
        """Let the first rank have what was observed on all since the last time."""
        self._observed.collect()

    def __call__(self, trainer: Loop) -> None:
        """Take the observation into account; when it is time, write the means."""
        summary = self._observed(trainer)
        if summary is None or not self.leads:
            return
        record = {key: float(mean) for key, mean in summary.compute_mean().items()}
        if self._postprocess is not None:
            self._postprocess(record)
        self._write(record, trainer)

    def _write(self, record: dict[str, Any], trainer: Loop) -> None:
        step = trainer.updater.iteration
        if self._writer is None:
            path = Path(trainer.out) / self._directory
            own = f".{os.getpid()}.{step}"  # of two files of one second the later would win
            self._writer = _summary_writer()(str(path), purge_step=step, filename_suffix=own)
        for key, value in record.items():
            self._writer.add_scalar(key, value, step)
        if hasattr(self._writer, "flush"):
            self._writer.flush()

    def finalize(self) -> None:
        """Close the files."""
        if self._given is None and self._writer is not None:
            self._writer.close()
            self._writer = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what was observed since the last time."""
        self._observed.serialize(serializer)


def _summary_writer() -> Any:
    try:
        from tensorboardX import SummaryWriter  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "TensorBoardReport: expected tensorboardX to be installed, found none. Install it with "
            "`pip install 'plugrad[tensorboard]'`, or give a writer.",
            name="tensorboardX",
        ) from error
    return SummaryWriter
