"""The mean of absolute differences."""

from __future__ import annotations

from math import prod

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of


class MeanAbsoluteError(FunctionNode):
    """Average the absolute differences of all elements.

    The derivatives are the sign of x0 - x1, divided by n, and its negative.

    The derivative where two elements are equal is taken as 0.

    Args:
        x0: Floating, of any shape. Floats of 16 bits are summed in float32.
        x1: Of the shape and dtype of `x0`.

    Returns:
        No axes, the dtype of `x0`; 0 where there is no element.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.mean_absolute_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable(1., dtype=float32)
    """

    wide = True
    domain = Domain("(...),(...)->()", x0=real(-3, 3, distinct=True), x1=real(-3, 3, distinct=True))

    def compute(self, xp, x0, x1):
        return xp.sum(xp.abs(x0 - x1), dtype=x0.dtype) / max(prod(x0.shape), 1)

    def gradient(self, xp, g, x0, x1):
        gradient = xp.sign(x0 - x1) * (g / max(prod(x0.shape), 1))
        return gradient, -gradient


mean_absolute_error = function_of(MeanAbsoluteError, "mean_absolute_error")
