"""The mean of squared differences."""

from __future__ import annotations

from math import prod

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of


class MeanSquaredError(FunctionNode):
    """Average the squared differences of all elements.

    The derivatives are 2 (x0 - x1) / n and its negative.

    Args:
        x0: Floating, of any shape. Floats of 16 bits are summed in float32.
        x1: Of the shape and dtype of `x0`.

    Returns:
        No axes, the dtype of `x0`; 0 where there is no element.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.mean_squared_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable(2., dtype=float32)
    """

    wide = True
    domain = Domain("(...),(...)->()", x0=real(-3, 3), x1=real(-3, 3))

    def compute(self, xp, x0, x1):
        difference = x0 - x1
        total = xp.sum(difference * difference, dtype=x0.dtype)
        return total / max(prod(x0.shape), 1)

    def gradient(self, xp, g, x0, x1):
        gradient = (x0 - x1) * (g * (2.0 / max(prod(x0.shape), 1)))
        return gradient, -gradient


mean_squared_error = function_of(MeanSquaredError, "mean_squared_error")
