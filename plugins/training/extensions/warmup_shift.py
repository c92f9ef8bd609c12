"""A hyper-parameter that warms up."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift


class WarmupShift(Shift):
    """Move the number `attr` of an optimizer from `warmup_start` to `init` in `warmup_iter` calls.

    At the t-th call it is warmup_start + (init - warmup_start) * t / warmup_iter. From call
    `warmup_iter` on it is `init`, or follows another schedule of the same number, `then`, which
    begins there from `init`; it is not to be added to the trainer itself. `init` is by default what
    the optimizer has, `optimizer` the trainer's 'main'.

    Raises ValueError for a negative `warmup_iter`, and a `then` that is for another number or
    starts elsewhere.

    Source: Goyal et al. 2017 (arXiv:1706.02677), section 2.2.

    >>> from core.training import extensions
    >>> shift = extensions.WarmupShift("lr", 0.25, 3, init=1.0)
    >>> [shift.value_at(t) for t in range(5)]
    [0.25, 0.5, 0.75, 1.0, 1.0]
    >>> shift = extensions.WarmupShift("lr", 0, 2, 1, then=extensions.CosineShift("lr", 4))
    >>> [round(shift.value_at(t), 3) for t in range(8)]
    [0.0, 0.5, 1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    @checked
    def __init__(
        self,
        attr: str,
        warmup_start: float,
        warmup_iter: int,
        init: float | None = None,
        optimizer: Any = None,
        *,
        then: Shift | None = None,
    ) -> None:
        super().__init__(attr, _first(attr, init, then), optimizer)
        if not warmup_iter >= 0:
            raise ValueError(
                f"WarmupShift: expected a warmup_iter of 0 or more, got {warmup_iter!r}."
            )
        self._warmup_start = float(warmup_start)
        self._warmup_iter = warmup_iter
        self._then = then

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        if t < self._warmup_iter:
            return self._warmup_start + (self.init - self._warmup_start) * t / self._warmup_iter
        if self._then is None:
            return self.init
        return self._then.begin_at(self.init).value_at(t - self._warmup_iter)


def _first(attr: str, init: float | None, then: Shift | None) -> float | None:
    """Where both schedules meet, as far as one of them says it."""
    if then is None:
        return init
    if not isinstance(then, Shift) or then.attr != attr:
        got = f"one of {then.attr!r}" if isinstance(then, Shift) else repr(then)
        raise ValueError(f"WarmupShift: expected a schedule of {attr!r} as `then`, got {got}.")
    if init is not None and then.given_init not in (None, init):
        raise ValueError(
            f"WarmupShift: expected the schedule `then` to begin where the warm-up ends, at "
            f"init={init}; got one that begins at {then.given_init}. Leave one of the two out."
        )
    return then.given_init if init is None else init
