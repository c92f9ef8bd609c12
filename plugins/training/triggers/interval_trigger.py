"""The trigger that fires at regular intervals of epochs or iterations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from core.errors import nearest
from core.errors.kinds import checked
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer, Deserializer
from plugins.training.triggers.shared import forget_answer, once_an_iteration, serialize_answer

if TYPE_CHECKING:
    from core.training import Loop

UNITS = ("epoch", "iteration")
# Epochs are counted in fractions: the third tenth, 0.3 / 0.1 = 2.9999999999999996, is complete.
ROUNDING = 1e-9
_UNKNOWN = -1.0


def checked_unit(where: str, unit: str) -> str:
    """`unit` if it is 'epoch' or 'iteration'; raises ValueError for anything else."""
    if unit not in UNITS:
        raise ValueError(
            f"{where}: expected the unit 'epoch' or 'iteration', got {unit!r}."
            + nearest(str(unit), UNITS)
        )
    return unit


class Progress:
    """How far training was at the last call and is now, in a trigger's unit; part of snapshots.

    Before the first call it was at its beginning, so that what was missed is made up for. Where a
    snapshot knows nothing of the trigger, as of one that only the resumed run has, the updater
    says. Both units are saved, so that a run may be resumed with a trigger of the other one.
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self.begin()

    def begin(self) -> None:
        """Let the last call have been at the beginning of training."""
        self._last = dict.fromkeys(UNITS, 0.0)

    def step(self, trainer: Loop) -> tuple[float, float]:
        """The values before and now, of which now becomes before."""
        before, now = self._last[self._unit], _now(trainer.updater)
        if now[self._unit] < 0:
            now[self._unit] = float(trainer.updater.epoch_detail)  # which says why there is none
        if before < 0:
            before = _before(trainer.updater, self._unit)
        self._last = now
        return before, now[self._unit]

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load where the last call was."""
        known = (
            dict.fromkeys(UNITS, _UNKNOWN) if isinstance(serializer, Deserializer) else self._last
        )
        self._last = {unit: serializer(f"last_{unit}", known[unit]) for unit in UNITS}


def _now(updater: Any) -> dict[str, float]:
    """An updater without a dataset counts no epochs."""
    epochs = getattr(updater, "epoch_detail", None)
    return {
        "epoch": -1.0 if epochs is None else float(epochs),
        "iteration": float(updater.iteration),
    }


def _before(updater: Any, unit: str) -> float:
    if unit == "epoch":
        return float(getattr(updater, "previous_epoch_detail", None) or 0)
    return float(max(updater.iteration - 1, 0))


class IntervalTrigger(NeedsInit):
    """Fires when another `period` (a number, also a fraction) of epochs or iterations is complete.

    `trainer.extend(extension, trigger=(5, 'epoch'))` makes one. It fires once even where one
    update completes several periods.

    >>> from types import SimpleNamespace
    >>> third = IntervalTrigger(3, "iteration")
    >>> steps = [SimpleNamespace(updater=SimpleNamespace(iteration=i)) for i in range(1, 8)]
    >>> [trainer.updater.iteration for trainer in steps if third(trainer)]
    [3, 6]
    """

    @checked
    def __init__(self, period: float, unit: str) -> None:
        if not period > 0:
            raise ValueError(f"IntervalTrigger: expected a period above 0, got {period!r}.")
        self.period = period
        self.unit = checked_unit("IntervalTrigger", unit)
        self._progress = Progress(unit)

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether the last update has completed a period."""
        before, now = self._progress.step(trainer)
        return self._complete(before) != self._complete(now)

    def _complete(self, value: float) -> int:
        return math.floor(value / self.period + ROUNDING)

    def get_training_length(self) -> tuple[float, str]:
        """The period and its unit: as a stop trigger, the length of training."""
        return self.period, self.unit

    def count_from_beginning(self) -> None:
        """Count periods from the beginning of training, not from where it was resumed."""
        self._progress.begin()
        forget_answer(self)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load where the last call was, and its answer."""
        self._progress.serialize(serializer)
        serialize_answer(self, serializer)

    def __str__(self) -> str:
        return f"IntervalTrigger({self.period}, {self.unit!r})"
