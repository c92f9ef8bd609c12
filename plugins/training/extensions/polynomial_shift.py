"""A hyper-parameter that decreases to zero along a polynomial."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift, power, until


class PolynomialShift(Shift):
    """Decrease the number `attr` of an optimizer to zero within `max_count` calls.

    At the t-th call it is init * (1 - t / max_count) ** rate, and 0 from call `max_count` on. It
    stops at `target`, if one is given; with a negative `rate` it grows, and needs one. `init` is
    by default what the optimizer has, `optimizer` the trainer's 'main'.

    Raises ValueError for a `max_count` that is not positive, and for a negative `rate` alone.

    >>> from core.training import extensions
    >>> shift = extensions.PolynomialShift("lr", 2, 4, init=1.6, target=0.2)
    >>> [round(shift.value_at(t), 6) for t in range(5)]
    [1.6, 0.9, 0.4, 0.2, 0.2]
    """

    @checked
    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not max_count > 0:
            raise ValueError(f"PolynomialShift: expected a positive max_count, got {max_count!r}.")
        if not rate >= 0 and target is None:
            raise ValueError(
                f"PolynomialShift: expected a rate of 0 or more, got {rate!r}. Pass target=... to "
                "say where growth stops."
            )
        self._rate = rate
        self._max_count = max_count
        self._target = target

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        left = max(1 - t / self._max_count, 0.0)
        return until(self._target, self.init * power(left, self._rate), self.init)
