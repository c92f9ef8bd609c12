"""A hyper-parameter that warms up."""

from __future__ import annotations

from typing import Any

from plugins.training.extensions.shift import Shift


class WarmupShift(Shift):
    """Moves the number `attr` of an optimizer from `warmup_start` to `init` in `warmup_iter` calls.

    At the t-th call it is warmup_start + (init - warmup_start) * t / warmup_iter, and `init` from
    call `warmup_iter` on. `optimizer` is by default the trainer's 'main'.

    Raises ValueError for a negative `warmup_iter`.

    >>> from core.training import extensions
    >>> shift = extensions.WarmupShift("lr", 0.25, 3, init=1.0)
    >>> [shift.value_at(t) for t in range(5)]
    [0.25, 0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        attr: str,
        warmup_start: float,
        warmup_iter: int,
        init: float,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not warmup_iter >= 0:
            raise ValueError(
                f"WarmupShift: expected a warmup_iter of 0 or more, got {warmup_iter!r}."
            )
        self._warmup_start = float(warmup_start)
        self._warmup_iter = warmup_iter

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        if t >= self._warmup_iter:
            return self.init
        return self._warmup_start + (self.init - self._warmup_start) * t / self._warmup_iter
