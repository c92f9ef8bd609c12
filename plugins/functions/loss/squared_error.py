"""Squared differences as a loss."""

from __future__ import annotations

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of


class SquaredError(FunctionNode):
    """Compute the squared difference of each two elements: (x0 - x1)².

    The derivatives are 2 (x0 - x1) and its negative.

    Args:
        x0: Floating, of any shape.
        x1: Of the shape and dtype of `x0`.

    Returns:
        The shape and dtype of `x0`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.squared_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable([4., 0.], dtype=float32)
    """

    wide = True
    domain = Domain("(...),(...)->(...)", x0=real(-3, 3), x1=real(-3, 3))

    def compute(self, xp, x0, x1):
        difference = x0 - x1
        return difference * difference

    def gradient(self, xp, g, x0, x1, needs_grad):
        slope = g * (x0 - x1) * 2.0
        return slope, -slope if needs_grad[1] else None


squared_error = function_of(SquaredError, "squared_error")
