"""A hyper-parameter that decreases along half a cosine, once or repeatedly."""

from __future__ import annotations

import math
from typing import Any

from core.errors.kinds import checked
from plugins.training.extensions.shift import Shift


class CosineShift(Shift):
    r"""Decrease the number `attr` of an optimizer to `target` along half a cosine.

    .. math:: v + (v_0 - v) \frac{1 + \cos(\pi t / T)}{2}

    is its value at the t-th call, from :math:`v_0`, `init`, at first to v, `target`, at call T,
    `max_count`, where it stays. With `restart` it begins anew there, each time for `restart` times
    as many calls as the time before: warm restarts.

    `init` is by default what the optimizer has, `optimizer` the trainer's 'main'. For warm-up
    before it see `WarmupShift`. With `AdamW`, whose decay does not depend on its rate, the schedule
    of the paper is that of `eta`, by which both are multiplied.

    Raises ValueError for a `max_count` that is not positive, and a `restart` below 1.

    Source: Loshchilov and Hutter 2017 (arXiv:1608.03983), equation 5.

    >>> from core.training import extensions
    >>> shift = extensions.CosineShift("lr", 2, init=0.8)
    >>> [round(shift.value_at(t), 6) for t in range(4)]
    [0.8, 0.4, 0.0, 0.0]
    >>> shift = extensions.CosineShift("lr", 2, init=0.8, target=0.2, restart=2)
    >>> [round(shift.value_at(t), 6) for t in range(7)]
    [0.8, 0.5, 0.8, 0.712132, 0.5, 0.287868, 0.8]
    """

    @checked
    def __init__(
        self,
        attr: str,
        max_count: float,
        init: float | None = None,
        target: float = 0.0,
        restart: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not max_count > 0:
            raise ValueError(f"CosineShift: expected a positive max_count, got {max_count!r}.")
        if restart is not None and not restart >= 1:
            raise ValueError(f"CosineShift: expected a restart of 1 or more, got {restart!r}.")
        self._max_count = max_count
        self._target = float(target)
        self._restart = restart

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        share = self._share(t)
        return self._target + (self.init - self._target) * (1 + math.cos(math.pi * share)) / 2

    def _share(self, t: float) -> float:
        """How much of the present period has passed."""
        period = self._max_count
        if self._restart is None:
            return min(t / period, 1.0)
        if self._restart == 1:
            return t % period / period
        while t >= period:
            t, period = t - period, period * self._restart
        return t / period
