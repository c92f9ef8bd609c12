"""Gradients that a step has used already and that nobody has cleared since."""

from __future__ import annotations

from typing import Any, Self
from weakref import ref

from core.link.parameter import Parameter


class Used:
    """A gradient that a step has used, with what was in it.

    Backward adds to a gradient that is there, and in place where nobody else holds it. So an array
    that is the same one, with other numbers in it, has not been cleared in between.

    >>> import core, numpy as np
    >>> parameter = core.Parameter(np.zeros(2, "f"))
    >>> parameter.grad = np.ones(2, "f")
    >>> used = Used.of([parameter])
    >>> used.is_added_to(), parameter.grad.fill(2), used.is_added_to()
    (False, None, True)
    """

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter
        self._gradient = ref(parameter.grad)  # a name of its own would keep backward from adding
        self._values = parameter.backend.copy(parameter.grad)

    @classmethod
    def of(cls, parameters: list[Parameter]) -> Self | None:
        """The gradient of the smallest of the parameters; None where there is none to look at."""
        if not parameters:
            return None
        try:
            return cls(min(parameters, key=lambda parameter: parameter.size))
        except TypeError:  # arrays that cannot be referred to weakly
            return None

    def is_added_to(self) -> bool:
        """Whether the gradient is the same array as before, with other numbers in it."""
        gradient = self._parameter.grad
        if gradient is None or gradient is not self._gradient():
            return False
        same = self._parameter.xp.all(gradient == self._values)
        return not bool(same)

    def __reduce__(self) -> Any:
        return type(None), ()  # it is about the arrays of this process
