"""The inverses of the error function and of its complement."""

from __future__ import annotations

from math import pi, sqrt

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of
from plugins.functions.math import error_functions


class Erfinv(Elementwise):
    """Compute the inverse of the error function for each element: the y with erf(y) = x.

    With y the result, the derivative is √π/2 exp(y^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`; infinite at -1 and 1, NaN beyond.

    >>> import core.functions as F, numpy as np
    >>> F.erfinv(np.array([0, 0.5, 1], "f"))
    variable([0.        , 0.47693625,        inf], dtype=float32)
    """

    label = "erfinv"
    wide = True
    domain = Domain(x=real(-0.9, 0.9))

    def compute(self, xp, x):
        return error_functions.inverse_erf(xp, x)

    def gradient(self, xp, g, out):
        return g * (xp.exp(out * out) * (sqrt(pi) / 2))


class Erfcinv(Elementwise):
    """Compute the inverse of the complementary error function: the y with erfc(y) = x.

    With y the result, the derivative is -√π/2 exp(y^2).

    Args:
        x: Floating, of any shape, in [0, 2].

    Returns:
        The shape and dtype of `x`; infinite at 0 and 2, NaN beyond.

    >>> import core.functions as F, numpy as np
    >>> F.erfcinv(np.array([1e-300, 1, 2], "d"))
    variable([26.20946996,  0.        ,        -inf])
    """

    label = "erfcinv"
    wide = True
    domain = Domain(x=real(0.1, 1.9))

    def compute(self, xp, x):
        return error_functions.inverse_erfc(xp, x)

    def gradient(self, xp, g, out):
        return g * (xp.exp(out * out) * (-sqrt(pi) / 2))


erfinv = function_of(Erfinv, "erfinv")
erfcinv = function_of(Erfcinv, "erfcinv")
