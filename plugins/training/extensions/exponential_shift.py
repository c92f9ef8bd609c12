"""A hyper-parameter that grows or shrinks by a factor."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift, power, until


class ExponentialShift(Shift):
    """Set the number `attr` of an optimizer to init * rate ** t at the t-th call.

    It stops at `target`, if one is given. `init` is by default what the optimizer has, `optimizer`
    the trainer's 'main'. Extend with a trigger such as (10, 'epoch') to go a step now and then.

    Raises ValueError for a negative `rate`.

    >>> from core.training import extensions
    >>> shift = extensions.ExponentialShift("lr", 0.5, init=0.8, target=0.15)
    >>> [shift.value_at(t) for t in range(4)]
    [0.8, 0.4, 0.2, 0.15]
    """

    @checked
    def __init__(
        self,
        attr: str,
        rate: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not rate >= 0:
            raise ValueError(f"ExponentialShift: expected a rate of 0 or more, got {rate!r}.")
        self._rate = rate
        self._target = target

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        return until(self._target, self.init * power(self._rate, t), self.init)
