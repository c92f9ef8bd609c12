"""Triggers that fire when a value is the best so far."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from core.errors import nearest
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer
from core.training import TriggerSpec, get_trigger
from core.training.reporter import DictSummary
from plugins.training.triggers.shared import once_an_iteration, serialize_answer

if TYPE_CHECKING:
    from core.training import Loop


def mean_of(summary: DictSummary, key: str, where: str, observed: Collection[str]) -> float:
    """The mean of `key`; KeyError, with the names that are `observed`, where there is none."""
    means = summary.compute_mean()
    if key in means:
        return float(means[key])
    if key in observed:
        raise KeyError(
            f"{where}: expected a number {key!r} of a weight above 0 between two checks; there was "
            "none. Check less often, or let what weighs nothing not be reported."
        )
    raise KeyError(
        f"{where}: expected an observed value {key!r}; there were {', '.join(observed) or 'none'}. "
        f"Check no more often than it is observed.{nearest(key, observed)}"
    )


class BestValueTrigger(NeedsInit):
    """Fires when the mean of the observed `key` is better than at all earlier checks.

    `compare(best, new)` says whether the new value is better; `trigger` when to check. The mean is
    taken over the iterations since the last check; NaN is never the best.
    """

    def __init__(
        self, key: str, compare: Callable[[float, float], bool], trigger: TriggerSpec = (1, "epoch")
    ) -> None:
        self._key = key
        self._compare = compare
        self._trigger = get_trigger(trigger)
        self._best = math.nan
        self._summary = DictSummary()

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether a check was due, and found a better value."""
        if self._key in trainer.observation:
            self._summary.add({self._key: trainer.observation[self._key]})
        if not self._trigger(trainer):
            return False
        value = mean_of(self._summary, self._key, type(self).__name__, trainer.observation)
        self._summary = DictSummary()
        if math.isnan(value) or not (math.isnan(self._best) or self._compare(self._best, value)):
            return False
        self._best = value
        return True

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the best value, and what was observed since the last check."""
        if hasattr(self._trigger, "serialize"):
            self._trigger.serialize(serializer["interval"])
        self._summary.serialize(serializer["summary"])
        self._best = serializer("best", self._best)
        serialize_answer(self, serializer)


class MaxValueTrigger(BestValueTrigger):
    """Fires when the mean of the observed `key` is greater than at all earlier checks.

    >>> from types import SimpleNamespace
    >>> best = MaxValueTrigger("accuracy", trigger=lambda trainer: True)
    >>> seen = [{"accuracy": value} for value in (0.5, 0.7, 0.6, 0.8)]
    >>> [best(SimpleNamespace(observation=observation)) for observation in seen]
    [True, True, False, True]
    """

    def __init__(self, key: str, trigger: TriggerSpec = (1, "epoch")) -> None:
        super().__init__(key, operator.lt, trigger)


class MinValueTrigger(BestValueTrigger):
    """Fires when the mean of the observed `key` is smaller than at all earlier checks.

    >>> from types import SimpleNamespace
    >>> best = MinValueTrigger("loss", trigger=lambda trainer: True)
    >>> seen = [{"loss": value} for value in (0.5, 0.3, 0.4, 0.2)]
    >>> [best(SimpleNamespace(observation=observation)) for observation in seen]
    [True, True, False, True]
    """

    def __init__(self, key: str, trigger: TriggerSpec = (1, "epoch")) -> None:
        super().__init__(key, operator.gt, trigger)
