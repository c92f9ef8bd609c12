"""A hyper-parameter that changes by a factor at regular intervals."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift, power, until


class StepShift(Shift):
    """Multiply the number `attr` of an optimizer by `gamma` at every `step`-th call.

    At the t-th call it is init * gamma ** floor(t / step). It stops at `target`, if one is given.
    `init` is by default what the optimizer has, `optimizer` the trainer's 'main'.

    Raises ValueError for a negative `gamma`, and for a `step` that is not positive.

    >>> from core.training import extensions
    >>> shift = extensions.StepShift("lr", 0.5, 2, init=0.8)
    >>> [shift.value_at(t) for t in range(5)]
    [0.8, 0.8, 0.4, 0.4, 0.2]
    """

    @checked
    def __init__(
        self,
        attr: str,
        gamma: float,
        step: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not gamma >= 0:
            raise ValueError(f"StepShift: expected a gamma of 0 or more, got {gamma!r}.")
        if not step > 0:
            raise ValueError(f"StepShift: expected a positive step, got {step!r}.")
        self._gamma = gamma
        self._step = step
        self._target = target

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        return until(self._target, self.init * power(self._gamma, t // self._step), self.init)
