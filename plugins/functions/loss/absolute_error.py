"""Absolute differences as a loss."""

from __future__ import annotations

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of


class AbsoluteError(FunctionNode):
    """Compute the absolute difference of each two elements: |x0 - x1|.

    The derivatives are the sign of x0 - x1 and its negative.

    The derivative where both are equal is taken as 0.

    Args:
        x0: Floating, of any shape.
        x1: Of the shape and dtype of `x0`.

    Returns:
        The shape and dtype of `x0`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.absolute_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable([2., 0.], dtype=float32)
    """

    domain = Domain(
        "(...),(...)->(...)", x0=real(-3, 3, distinct=True), x1=real(-3, 3, distinct=True)
    )

    def compute(self, xp, x0, x1):
        return xp.abs(x0 - x1)

    def gradient_x0(self, xp, g, x0, x1):
        return g * xp.sign(x0 - x1)

    def gradient_x1(self, xp, g, x0, x1):
        return g * xp.sign(x1 - x0)


absolute_error = function_of(AbsoluteError, "absolute_error")
