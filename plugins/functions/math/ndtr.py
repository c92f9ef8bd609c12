"""The normal distribution: its distribution function, the logarithm of that, and the inverse."""

from __future__ import annotations

from math import pi, sqrt

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of
from plugins.functions.math import error_functions
from plugins.functions.math.erfc import Erfc, Erfcx


class Ndtr(Elementwise):
    """Compute the standard normal distribution function of each element: the probability below x.

    The derivative is the normal density exp(-x^2/2) / √(2π).

    Returns:
        The shape and dtype of `x`, in [0, 1].

    >>> import core.functions as F, numpy as np
    >>> F.ndtr(np.array([-1, 0, 9], "f"))
    variable([0.15865526, 0.5       , 1.        ], dtype=float32)
    """

    label = "ndtr"
    wide = True
    domain = Domain(x=real(-5, 5))

    def compute(self, xp, x):
        return error_functions.below(xp, x)

    def gradient(self, xp, g, x):
        return g * (xp.exp(x * x * -0.5) * (1 / sqrt(2 * pi)))


class LogNdtr(Elementwise):
    """Compute the logarithm of the normal distribution function, finite far below 0 as well.

    The derivative is the density over ndtr, in the form that fits x.

    Returns:
        The shape and dtype of `x`, not positive.

    >>> import core.functions as F, numpy as np
    >>> F.log_ndtr(np.array([-1000, 0], "d"))
    variable([-5.00007827e+05, -6.93147181e-01])
    """

    label = "log_ndtr"
    wide = True
    domain = Domain(x=real(-12, 5))

    def compute(self, xp, x):
        size = xp.abs(x) * sqrt(0.5)
        below = xp.log(error_functions.scaled_tail(xp, size) * 0.5) - size * size
        return xp.where(x < 0, below, xp.log1p(error_functions.erfc(xp, size) * -0.5))

    def gradient(self, xp, g, x):
        left, right = xp.where(x < 0, x, 0.0), xp.where(x < 0, 0.0, x)
        # exp(-x^2/2) and erfc both vanish far below 0; their quotient is 1 / erfcx.
        below = 1.0 / Erfcx().evaluate(left * -sqrt(0.5))
        above = xp.exp(right * right * -0.5) / Erfc().evaluate(right * -sqrt(0.5))
        return g * xp.where(x < 0, below, above) * sqrt(2 / pi)


class Ndtri(Elementwise):
    """Compute the inverse of the standard normal distribution function, also called probit.

    With y the result, the derivative is √(2π) exp(y^2/2).

    Args:
        x: Floating, of any shape, in [0, 1].

    Returns:
        The shape and dtype of `x`; infinite at 0 and 1, NaN beyond.

    >>> import core.functions as F, numpy as np
    >>> F.ndtri(np.array([0.025, 0.5], "d"))
    variable([-1.95996398, -0.        ])
    """

    label = "ndtri"
    wide = True
    domain = Domain(x=real(0.05, 0.95))

    def compute(self, xp, x):
        return error_functions.inverse_erfc(xp, x * 2.0) * -sqrt(2)

    def gradient(self, xp, g, out):
        return g * (xp.exp(out * out * 0.5) * sqrt(2 * pi))


ndtr = function_of(Ndtr, "ndtr")
log_ndtr = function_of(LogNdtr, "log_ndtr")
ndtri = function_of(Ndtri, "ndtri")
