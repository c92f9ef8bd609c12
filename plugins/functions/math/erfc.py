"""The complementary error function, plain and scaled."""

from __future__ import annotations

from math import pi, sqrt

from core import Domain, Elementwise, choice, real
from plugins.functions.derived import function_of
from plugins.functions.math import error_functions


class Erfc(Elementwise):
    """Compute the complementary error function, 1 - erf(x), precise also where it is small.

    The derivative is -2 exp(-x^2) / √π.

    Returns:
        The shape and dtype of `x`, in [0, 2].

    >>> import core.functions as F, numpy as np
    >>> F.erfc(np.array([-9, 0, 5], "d"))
    variable([2.00000000e+00, 1.00000000e+00, 1.53745979e-12])
    """

    label = "erfc"
    wide = True
    domain = Domain(x=real(-4, 4))

    def compute(self, xp, x):
        return error_functions.erfc(xp, x)

    def gradient(self, xp, g, x):
        return g * (xp.exp(-x * x) * (-2 / sqrt(pi)))


class Erfcx(Elementwise):
    """Compute the scaled complementary error function of each element: exp(x²) (1 - erf(x)).

    With y the result, the derivative is 2 x y - 2 / √π, computed without this difference for x > 0.

    Returns:
        The shape and dtype of `x`, positive; about 1 / (x √π) for large x.

    >>> import core.functions as F, numpy as np
    >>> F.erfcx(np.array([0, 1e6], "d"))
    variable([1.00000000e+00, 5.64189584e-07])
    """

    label = "erfcx"
    wide = True
    domain = Domain(x=real(-2, 6))

    def compute(self, xp, x):
        right = error_functions.scaled_tail(xp, xp.abs(x))
        below = xp.where(x < 0, x, 0.0)
        return xp.where(x < 0, 2.0 * xp.exp(below * below) - right, right)

    def gradient(self, xp, g, x):
        return g * ErfcxSlope(1).evaluate(x)


class ErfcxSlope(Elementwise):
    """A derivative of erfcx, whose own is the next.

    They follow from each other, y(n + 1) = 2 n y(n - 1) + 2 x y(n), which cancels for x > 0 alone.
    """

    order: int = 1
    wide = True
    domain = Domain(x=real(-1.5, 6), settings={"order": choice(1, 2, 3)})

    def compute(self, xp, x):
        right = error_functions.scaled_tail(xp, xp.abs(x), self.order)
        below = xp.where(x < 0, x, 0.0)
        before = 2.0 * xp.exp(below * below) - error_functions.scaled_tail(xp, -below)
        left = below * before * 2.0 - 2 / sqrt(pi)
        for n in range(1, self.order):
            before, left = left, 2.0 * n * before + 2.0 * below * left
        return xp.where(x < 0, left, right)

    def gradient(self, xp, g, x):
        return g * ErfcxSlope(self.order + 1).evaluate(x)


erfc = function_of(Erfc, "erfc")
erfcx = function_of(Erfcx, "erfcx")
