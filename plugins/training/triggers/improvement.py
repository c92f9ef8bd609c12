"""What triggers have in common that watch whether a value improves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.errors import nearest
from core.errors.place import warn
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer
from core.training import TriggerSpec, get_trigger
from core.training.reporter import DictSummary
from plugins.training.triggers.best_value_trigger import mean_of
from plugins.training.triggers.shared import once_an_iteration, serialize_answer

if TYPE_CHECKING:
    from core.training import Loop

_MODES = ("auto", "max", "min")
_LESS_IS_BETTER = ("loss", "error", "perplexity")


class ImprovementTrigger(NeedsInit):
    """Base of triggers that count the checks at which `monitor` has not improved.

    A check is of the mean over the iterations since the last one.
    """

    def __init__(
        self, check_trigger: TriggerSpec, monitor: str, patience: int, mode: str, verbose: bool
    ) -> None:
        self._name = type(self).__name__
        if mode not in _MODES:
            raise ValueError(
                f"{self._name}: expected mode 'auto', 'max' or 'min', got {mode!r}."
                + nearest(str(mode), _MODES)
            )
        if patience < 1:
            raise ValueError(
                f"{self._name}: expected a patience of 1 check or more, got {patience}."
            )
        if mode == "auto" and not any(word in monitor for word in ("accuracy", *_LESS_IS_BETTER)):
            warn(
                f"{self._name}: {monitor!r} does not tell which way is better, and less is taken "
                "for it. Say mode='min' or mode='max'."
            )
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self._sign = 1 if mode == "max" or (mode == "auto" and "accuracy" in monitor) else -1
        self._check = get_trigger(check_trigger)
        self._summary = DictSummary()
        self._best = -math.inf  # of the value with its sign, so that greater is better
        self._count = 0

    @once_an_iteration
    def _look(self, trainer: Loop) -> None:
        """Note what is observed; where a check is due, count it or begin to count anew."""
        if self.monitor in trainer.observation:
            self._summary.add({self.monitor: trainer.observation[self.monitor]})
        if self._check(trainer):
            self._compare(mean_of(self._summary, self.monitor, self._name, trainer.observation))
            self._summary = DictSummary()

    def _compare(self, value: float) -> None:
        if self._sign * value > self._best:
            self._best = self._sign * value
            self._count = 0
            return
        self._count += 1
        if self.verbose:
            best = self._sign * self._best
            print(
                f"{self._name}: {self.monitor} is {value:.6g}, the best is {best:.6g}; "
                f"{self._count} of {self.patience} checks without improvement."
            )

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the best value, and what was observed since the last check."""
        if hasattr(self._check, "serialize"):
            self._check.serialize(serializer["check"])
        self._summary.serialize(serializer["summary"])
        self._best = serializer("best", self._best)
        self._count = serializer("count", self._count)
        serialize_answer(self, serializer)
