"""The greater and the lesser of two elements."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class Maximum(Elementwise):
    """Take the greater of two elements; NaN if one is NaN.

    Where both are equal, `x1` gets the gradient.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts. One of the two may be a number.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.maximum(np.array([1, 5], "f"), np.array([3, 4], "f"))
    variable([3., 5.], dtype=float32)
    """

    domain = Domain(x1=real(-3, 3, distinct=True), x2=real(-3, 3, distinct=True))

    def compute(self, xp, x1, x2):
        return xp.maximum(x1, x2)

    def gradient_x1(self, xp, g, x1, x2):
        return xp.where(x1 >= x2, g, 0.0)

    def gradient_x2(self, xp, g, x1, x2):
        return xp.where(x1 < x2, g, 0.0)


class Minimum(Elementwise):
    """Take the lesser of two elements; NaN if one is NaN.

    Where both are equal, `x1` gets the gradient.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts. One of the two may be a number.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.minimum(np.array([1, 5], "f"), np.array([3, 4], "f"))
    variable([1., 4.], dtype=float32)
    """

    domain = Domain(x1=real(-3, 3, distinct=True), x2=real(-3, 3, distinct=True))

    def compute(self, xp, x1, x2):
        return xp.minimum(x1, x2)

    def gradient_x1(self, xp, g, x1, x2):
        return xp.where(x1 <= x2, g, 0.0)

    def gradient_x2(self, xp, g, x1, x2):
        return xp.where(x1 > x2, g, 0.0)


maximum = function_of(Maximum, "maximum")


minimum = function_of(Minimum, "minimum")
