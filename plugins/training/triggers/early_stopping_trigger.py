"""The trigger that stops training when a value no longer improves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.errors import nearest
from core.errors.kinds import checked
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer
from core.training import TriggerSpec, get_trigger
from core.training.reporter import DictSummary
from plugins.training.triggers.best_value_trigger import mean_of
from plugins.training.triggers.shared import once_an_iteration

if TYPE_CHECKING:
    from core.training import Loop

_MODES = ("auto", "max", "min")


class EarlyStoppingTrigger(NeedsInit):
    """A stop trigger: fires when `monitor` has not improved at `patients` checks, or at the latest
    when `max_trigger` does.

    `mode` says which way is better: 'min', 'max', or 'auto', which takes 'max' for names with
    'accuracy' in them. With `verbose`, every check without improvement is printed. `patience` is
    another name of `patients`.

    >>> from types import SimpleNamespace
    >>> each = lambda trainer: True
    >>> stop = EarlyStoppingTrigger(each, "loss", patience=2, max_trigger=lambda trainer: False)
    >>> losses = (3.0, 2.0, 2.5, 1.0, 1.5, 1.2)
    >>> [stop(SimpleNamespace(observation={"loss": loss})) for loss in losses]
    [False, False, False, False, False, True]
    """

    @checked
    def __init__(
        self,
        check_trigger: TriggerSpec = (1, "epoch"),
        monitor: str = "main/loss",
        patients: int = 3,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: TriggerSpec = (100, "epoch"),
        *,
        patience: int | None = None,
    ) -> None:
        if mode not in _MODES:
            raise ValueError(
                f"EarlyStoppingTrigger: expected mode 'auto', 'max' or 'min', got {mode!r}."
                + nearest(str(mode), _MODES)
            )
        self.monitor = monitor
        self.patience = patients if patience is None else patience
        self.verbose = verbose
        self._sign = 1 if mode == "max" or (mode == "auto" and "accuracy" in monitor) else -1
        self._check = get_trigger(check_trigger)
        self._limit = get_trigger(max_trigger)
        self._summary = DictSummary()
        self._best = -math.inf  # of the value with its sign, so that greater is better
        self._count = 0

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether training should stop."""
        if self.monitor in trainer.observation:
            self._summary.add({self.monitor: trainer.observation[self.monitor]})
        over = self._limit(trainer)
        if self._check(trainer):
            name = "EarlyStoppingTrigger"
            self._compare(mean_of(self._summary, self.monitor, name, trainer.observation))
            self._summary = DictSummary()
        return over or self._count >= self.patience

    def _compare(self, value: float) -> None:
        if self._sign * value > self._best:
            self._best = self._sign * value
            self._count = 0
            return
        self._count += 1
        if self.verbose:
            best = self._sign * self._best
            print(
                f"EarlyStoppingTrigger: {self.monitor} is {value:.6g}, the best is {best:.6g}; "
                f"{self._count} of {self.patience} checks without improvement."
            )

    def get_training_length(self) -> tuple[float, str] | None:
        """The greatest length of training, as progress bars show it; None if `max_trigger` has
        none.
        """
        length = getattr(self._limit, "get_training_length", None)
        return None if length is None else length()

    def count_from_beginning(self) -> None:
        """Let `max_trigger` count from the beginning of training."""
        if hasattr(self._limit, "count_from_beginning"):
            self._limit.count_from_beginning()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the best value, and what was observed since the last check."""
        for name, trigger in (("check", self._check), ("limit", self._limit)):
            if hasattr(trigger, "serialize"):
                trigger.serialize(serializer[name])
        self._summary.serialize(serializer["summary"])
        self._best = serializer("best", self._best)
        self._count = serializer("count", self._count)
