"""A hyper-parameter that decreases with the inverse of time."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift, power, until


class InverseShift(Shift):
    """Set the number `attr` of an optimizer to init * (1 + gamma * t) ** -power at the t-th call.

    It stops at `target`, if one is given. `init` is by default what the optimizer has, `optimizer`
    the trainer's 'main'.

    Raises ValueError for a negative `gamma`.

    >>> from core.training import extensions
    >>> shift = extensions.InverseShift("lr", gamma=1, power=1, init=0.6, target=0.1)
    >>> [round(shift.value_at(t), 6) for t in (0, 1, 2, 5, 6)]
    [0.6, 0.3, 0.2, 0.1, 0.1]
    """

    @checked
    def __init__(
        self,
        attr: str,
        gamma: float,
        power: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not gamma >= 0:
            raise ValueError(f"InverseShift: expected a gamma of 0 or more, got {gamma!r}.")
        self._gamma = gamma
        self._power = power
        self._target = target

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        value = self.init * power(1 + self._gamma * t, -self._power)
        return until(self._target, value, self.init)
