"""A hyper-parameter that follows a function of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.errors import InvalidSetting
from core.errors.kinds import checked
from core.errors.scalars import python_number
from plugins.training.extensions.shift import Shift


class FunctionShift(Shift):
    """Set the number `attr` of an optimizer to init * function(t) at the t-th call.

    `init` is by default what the optimizer has, `optimizer` the trainer's 'main'. A snapshot holds
    how far the schedule is, not the function: it has to give the same in the run that is resumed.

    Raises InvalidSetting where the function gives no number.

    >>> from core.training import extensions
    >>> shift = extensions.FunctionShift("lr", lambda t: 1 / (1 + t) ** 0.5, init=0.8)
    >>> [shift.value_at(t) for t in (0, 3, 15)]
    [0.8, 0.4, 0.2]
    """

    @checked
    def __init__(
        self,
        attr: str,
        function: Callable[[int], float],
        init: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._function = function

    def value_at(self, t: int) -> float:
        """The number after `t` calls."""
        factor = python_number(self._function(t))
        if not isinstance(factor, int | float):
            raise InvalidSetting(
                f"FunctionShift: expected function({t}) to be a number, got {factor!r}"
            )
        return self.init * factor
