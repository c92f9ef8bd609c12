"""A hyper-parameter that changes by a factor at given times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift, power


class MultistepShift(Shift):
    """Multiply the number `attr` of an optimizer by `gamma` at each of the calls `step_value`.

    At the t-th call it is init * gamma ** n, where n of the `step_value` are at most t.
    `optimizer` is by default the trainer's 'main'.

    Raises ValueError for a negative `gamma`.

    >>> from core.training import extensions
    >>> shift = extensions.MultistepShift("lr", 0.5, [2, 5], init=0.8)
    >>> [shift.value_at(t) for t in range(6)]
    [0.8, 0.8, 0.4, 0.4, 0.4, 0.2]
    """

    @checked
    def __init__(
        self,
        attr: str,
        gamma: float,
        step_value: Iterable[int],
        init: float,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not gamma >= 0:
            raise ValueError(f"MultistepShift: expected a gamma of 0 or more, got {gamma!r}.")
        self._gamma = gamma
        self._steps = sorted(step_value)

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        return self.init * power(self._gamma, bisect_right(self._steps, t))
