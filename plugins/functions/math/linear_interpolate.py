"""Linear interpolation between two arrays."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, real
from core.typing import Operand


class LinearInterpolate(FunctionNode):
    """p x + (1 - p) y."""

    domain = Domain("(...),(...),(...)->(...)", p=real(0, 1), x=real(-3, 3), y=real(-3, 3))

    def compute(self, xp, p, x, y):
        return p * (x - y) + y

    def gradient_p(self, xp, g, x, y):
        return g * (x - y)

    def gradient_x(self, xp, g, p):
        return g * p

    def gradient_y(self, xp, g, p):
        return g - g * p


def linear_interpolate(p: Operand, x: Operand, y: Operand) -> Variable:
    """Interpolate between `y` (p = 0) and `x` (p = 1): p * x + (1 - p) * y.

    Args:
        p: Floating, of any shape.
        x: Of the shape and dtype of `p`.
        y: Likewise.

    Returns:
        The shape and dtype of `p`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.linear_interpolate(np.array([0.25], "f"), np.array([8], "f"), np.array([0], "f"))
    variable([2.], dtype=float32)
    """
    return LinearInterpolate.call(p, x, y)
