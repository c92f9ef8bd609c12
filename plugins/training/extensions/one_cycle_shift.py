"""A hyper-parameter that rises once and falls far below where it began."""

from __future__ import annotations

import math
from typing import Any

from core.errors.kinds import checked
from core.typing import Probability
from plugins.training.extensions.shift import Shift


class OneCycleShift(Shift):
    r"""Move the number `attr` of an optimizer up to `init` and far down, in `max_count` updates.

    The `warmup` share of the updates leads from `start` times `init` to `init`, the rest from there
    to `end` times `init`, each along half a cosine:

    .. math:: v_0 + (v_1 - v_0) \frac{1 - \cos(\pi s)}{2}

    where s goes from 0 to 1. The last update is made with the last value, which stays.

    `init` is by default what the optimizer has, `optimizer` the trainer's 'main'. A momentum goes
    the other way, as from 0.95 to 0.85 and back: `OneCycleShift("momentum", n, 0.85, start=0.95 /
    0.85, end=0.95 / 0.85)`.

    Raises ValueError for a `max_count` that is not positive, and InvalidSetting for a `warmup` that
    is not in [0, 1].

    Source: Smith and Topin 2018 (arXiv:1708.07120); with cosines, as fast.ai and PyTorch have it.

    >>> from core.training import extensions
    >>> shift = extensions.OneCycleShift("lr", 7, init=1.0, warmup=3 / 7, start=0.25, end=0.0)
    >>> [round(shift.value_at(t), 6) for t in range(8)]
    [0.25, 0.625, 1.0, 0.853553, 0.5, 0.146447, 0.0, 0.0]
    """

    @checked
    def __init__(
        self,
        attr: str,
        max_count: float,
        init: float | None = None,
        warmup: Probability = 0.3,
        start: float = 0.04,
        end: float = 4e-6,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        if not max_count > 0:
            raise ValueError(f"OneCycleShift: expected a positive max_count, got {max_count!r}.")
        self._last = max_count - 1
        self._top = warmup * max_count - 1
        self._start = start
        self._end = end

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        place = min(t, self._last)
        if self._top > 0 and place <= self._top:
            return self.init * _between(self._start, 1.0, place / self._top)
        rest = self._last - self._top
        share = (place - self._top) / rest if rest > 0 else 1.0
        return self.init * _between(1.0, self._end, share)


def _between(first: float, last: float, share: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * share)) / 2
