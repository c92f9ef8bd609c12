"""Means over examples, for batches of different sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import InvalidSetting
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import PRIORITY_EDITOR, Extension, TriggerSpec, get_trigger
from plugins.training.extensions.slips import warn_of_slips

if TYPE_CHECKING:
    from core.training import Loop


class MicroAverage(Extension):
    """Observe the sum of one observed value divided by the sum of another.

    Whenever `trigger` fires, `result_key` becomes sum(numerator) / sum(denominator), over all
    iterations since it fired last in which both were observed, and over all ranks that train
    together: with the number of correct answers and of examples, the accuracy over the examples, in
    which batches count by their size. Nothing is observed where neither was; the result is NaN
    where the denominators add up to 0.

        trainer.extend(extensions.MicroAverage("main/correct", "main/size", "main/accuracy"))

    Waits for the device that the values are on, at every call.

    >>> from types import SimpleNamespace
    >>> from core.training import extensions
    >>> average = extensions.MicroAverage("hits", "size", "rate", lambda trainer: True)
    >>> trainer = SimpleNamespace(observation={"hits": 3, "size": 4})
    >>> average(trainer)
    >>> trainer.observation["rate"]
    0.75
    """

    ranks = "together"
    priority = PRIORITY_EDITOR

    def __init__(
        self,
        numerator_key: str,
        denominator_key: str,
        result_key: str,
        trigger: TriggerSpec = (1, "epoch"),
    ) -> None:
        self._keys = (numerator_key, denominator_key)
        self._result_key = result_key
        self._trigger = get_trigger(trigger)
        self._is_loaded = self._told_of_slips = False
        self._reset()

    def _reset(self) -> None:
        self._numerator = self._denominator = 0.0
        self._count = 0

    def __call__(self, trainer: Loop) -> None:
        """Add what was observed; when it is time, observe the quotient."""
        observed = trainer.observation
        if self._is_loaded and not self.leads:  # all of it was saved by the first rank
            self._reset()
        self._is_loaded = False
        if all(key in observed for key in self._keys):
            numerator, denominator = (_number(key, observed[key]) for key in self._keys)
            self._numerator += numerator
            self._denominator += denominator
            self._count += 1
        if not self._trigger(trainer):
            return
        self._merge()
        if self._count:
            zero = self._denominator == 0
            observed[self._result_key] = (
                float("nan") if zero else self._numerator / self._denominator
            )
            self._reset()
        elif not self._told_of_slips:
            self._told_of_slips = True
            warn_of_slips("MicroAverage", [k for k in self._keys if k not in observed], observed)

    def initialize(self, trainer: Loop) -> None:
        """Let the sums be those of all ranks, where these call it together."""
        if self.communicator is not None:
            self._trigger = trainer.agreed(self._trigger, "the trigger of MicroAverage")

    def _merge(self) -> None:
        if self.communicator is not None:
            sums = (self._numerator, self._denominator, self._count)
            everywhere = zip(*self.communicator.allgather_obj(sums), strict=True)
            self._numerator, self._denominator, self._count = map(sum, everywhere)

    def collect(self) -> None:
        """Let the first rank have the sums of all."""
        self._merge()
        if not self.leads:
            self._reset()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the sums so far."""
        if hasattr(self._trigger, "serialize"):
            self._trigger.serialize(serializer["trigger"])
        self._numerator = float(serializer("numerator", self._numerator))
        self._denominator = float(serializer("denominator", self._denominator))
        self._count = int(serializer("count", self._count))
        self._is_loaded = isinstance(serializer, Deserializer)


def _number(key: str, value: Any) -> float:
    if isinstance(value, tuple):
        raise InvalidSetting(
            f"MicroAverage: expected {key!r} to be observed as a number, a sum over examples, got "
            f"the pair {value!r:.60}, a mean and its weight. Report their product; or leave "
            "MicroAverage out: LogReport and Evaluator weigh such means by themselves."
        )
    return float(value)
