"""The trigger that fires at given points of training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.errors.scalars import as_number
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer
from plugins.training.triggers.interval_trigger import ROUNDING, Progress, checked_unit
from plugins.training.triggers.shared import forget_answer, once_an_iteration, serialize_answer

if TYPE_CHECKING:
    from core.training import Loop


class ManualScheduleTrigger(NeedsInit):
    """Fires when one of `points` (a number, or several) of epochs or iterations has been passed.

    >>> from types import SimpleNamespace
    >>> early = ManualScheduleTrigger([1, 2, 5], "iteration")
    >>> steps = [SimpleNamespace(updater=SimpleNamespace(iteration=i)) for i in range(1, 8)]
    >>> [trainer.updater.iteration for trainer in steps if early(trainer)]
    [1, 2, 5]
    """

    def __init__(self, points: float | Iterable[float], unit: str) -> None:
        given = points if isinstance(points, Iterable) else [points]
        self.points = [as_number("ManualScheduleTrigger", "a point", each) for each in given]
        self.unit = checked_unit("ManualScheduleTrigger", unit)
        self._progress = Progress(unit)

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether the last update has passed a point."""
        before, now = self._progress.step(trainer)
        return any(before < point - ROUNDING <= now for point in self.points)

    def count_from_beginning(self) -> None:
        """Fire for points that were passed before training was resumed, too."""
        self._progress.begin()
        forget_answer(self)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load where the last call was, and its answer."""
        self._progress.serialize(serializer)
        serialize_answer(self, serializer)

    def __str__(self) -> str:
        return f"ManualScheduleTrigger({self.points}, {self.unit!r})"
