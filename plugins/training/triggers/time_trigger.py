"""The trigger that fires at regular intervals of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors.kinds import checked
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer
from plugins.training.triggers.shared import forget_answer, once_an_iteration, serialize_answer

if TYPE_CHECKING:
    from core.training import Loop


class TimeTrigger(NeedsInit):
    """Fires when another `period` of seconds of training has passed.

    >>> from types import SimpleNamespace
    >>> minutes = TimeTrigger(60)
    >>> [t for t in range(0, 200, 25) if minutes(SimpleNamespace(elapsed_time=t))]
    [75, 125]
    """

    @checked
    def __init__(self, period: float) -> None:
        if not period > 0:
            raise ValueError(f"TimeTrigger: expected a period above 0, got {period!r}.")
        self._period = period
        self._next_time = period

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether the time has come; periods missed meanwhile are not made up for."""
        now = trainer.elapsed_time
        if now < self._next_time:
            return False
        self._next_time += self._period * (1 + (now - self._next_time) // self._period)
        return True

    def count_from_beginning(self) -> None:
        """Count the first period from the beginning of training, not from where it was resumed."""
        self._next_time = self._period
        forget_answer(self)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load when the next call is due, and the last answer."""
        self._next_time = serializer("next_time", self._next_time)
        serialize_answer(self, serializer)
