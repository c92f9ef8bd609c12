"""How long functions take."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from core import backend
from plugins.function_hooks.measure import Measuring
from plugins.function_hooks.times import Times


class TimerHook(Times, Measuring):
    """Measure the time of every forward and backward.

    A device is waited for before and after, so figures are whole and training is slower. In
    `call_history` are pairs of a function's label and seconds.

    >>> import core, numpy as np
    >>> x = core.Variable(np.ones(3, "f"))
    >>> with TimerHook() as timer:
    ...     y = x * x
    >>> timer.summary()["Multiply"]["occurrence"]
    1
    """

    name = "TimerHook"
    head = "FunctionName"

    def _read(self, arrays: tuple[Any, ...]) -> float:
        for array in arrays:
            if array is not None:
                backend.of(array).synchronize()
                break
        return perf_counter()
