"""Squares and square roots."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class Square(Elementwise):
    """Square each element.

    The derivative is 2 x.

    >>> import core.functions as F, numpy as np
    >>> F.square(np.array([-2, 3], "f"))
    variable([4., 9.], dtype=float32)
    """

    label = "square"
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return x * x

    def gradient(self, xp, g, x):
        return g * x * 2.0


class Sqrt(Elementwise):
    """Compute the square root of each element.

    The derivative at 0 is infinite. The derivative is 1 / (2 sqrt(x)).

    Args:
        x: Floating, of any shape, not negative.

    Returns:
        The shape and dtype of `x`; NaN below 0.

    >>> import core.functions as F, numpy as np
    >>> F.sqrt(np.array([4, 9], "f"))
    variable([2., 3.], dtype=float32)
    """

    label = "sqrt"
    domain = Domain(x=real(0.2, 4))

    def compute(self, xp, x):
        return xp.sqrt(x)

    def gradient(self, xp, g, out):
        return g / (out * 2.0)


class Rsqrt(Elementwise):
    """Compute the reciprocal of the square root of each element: 1 / sqrt(x).

    With y the result, the derivative is -y^3 / 2.

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; infinite at 0, NaN below.

    >>> import core.functions as F, numpy as np
    >>> F.rsqrt(np.array([4, 0.25], "f"))
    variable([0.5, 2. ], dtype=float32)
    """

    label = "rsqrt"
    wide = True  # 16 bits do not hold cubes
    domain = Domain(x=real(0.2, 4))

    def compute(self, xp, x):
        return 1 / xp.sqrt(x)

    def gradient(self, xp, g, out):
        return g * (out * out * out * -0.5)


square = function_of(Square, "square")
sqrt = function_of(Sqrt, "sqrt")
rsqrt = function_of(Rsqrt, "rsqrt")
