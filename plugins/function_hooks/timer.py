"""How long functions take."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from plugins.function_hooks.measure import Measuring, kind_of, place_of, wait_for
from plugins.function_hooks.times import Times


class TimerHook(Times, Measuring):
    """Measure the time of every forward and backward.

    A device is waited for before and after, so figures are whole and training is slower. In
    `call_history` are pairs of a function and seconds; the function is in no graph.

    >>> import core, numpy as np
    >>> x = core.Variable(np.ones(3, "f"))
    >>> with TimerHook() as timer:
    ...     y = x * x
    >>> timer.summary()["Multiply"]["occurrence"]
    1
    """

    name = "TimerHook"
    head = "FunctionName"

    def _kind(self, called: Any) -> str:
        return kind_of(called)

    def _read(self, arrays: tuple[Any, ...]) -> float:
        wait_for(place_of(arrays))
        return perf_counter()
