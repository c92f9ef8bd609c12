"""Squares of differences."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class SquaredDifference(Elementwise):
    """Square the difference of each two elements: (x1 - x2)².

    The derivatives are 2 (x1 - x2) and its negative.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.squared_difference(np.array([1, 5], "f"), np.array([3, 4], "f"))
    variable([4., 1.], dtype=float32)
    """

    domain = Domain(x1=real(-3, 3), x2=real(-3, 3))

    def compute(self, xp, x1, x2):
        difference = x1 - x2
        return difference * difference

    def gradient_x1(self, xp, g, x1, x2):
        return g * (x1 - x2) * 2.0

    def gradient_x2(self, xp, g, x1, x2):
        return g * (x2 - x1) * 2.0


squared_difference = function_of(SquaredDifference, "squared_difference")
