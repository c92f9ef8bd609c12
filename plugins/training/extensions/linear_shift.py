"""A hyper-parameter that moves along a straight line."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift


class LinearShift(Shift):
    """Move the number `attr` of an optimizer linearly from one value to another.

    With `value_range` (v1, v2) and `time_range` (t1, t2) it is v1 until the t1-th call,
    v1 + (v2 - v1) * (t - t1) / (t2 - t1) at the t-th, and v2 from the t2-th on. `optimizer` is by
    default the trainer's 'main'.

    Raises ValueError where `time_range` ends before it begins.

    >>> from core.training import extensions
    >>> shift = extensions.LinearShift("lr", (1.0, 0.0), (2, 6))
    >>> [shift.value_at(t) for t in (0, 2, 3, 5, 6, 7)]
    [1.0, 1.0, 0.75, 0.25, 0.0, 0.0]
    """

    @checked
    def __init__(
        self,
        attr: str,
        value_range: tuple[float, float],
        time_range: tuple[float, float],
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, value_range[0], optimizer)
        if not time_range[0] <= time_range[1]:
            raise ValueError(
                f"LinearShift: expected a time_range that ends after it begins, got {time_range}."
            )
        self._last = float(value_range[1])
        self._begin, self._end = time_range

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        if t <= self._begin:
            return self.init
        if t >= self._end:
            return self._last
        return self.init + (self._last - self.init) * (t - self._begin) / (self._end - self._begin)
