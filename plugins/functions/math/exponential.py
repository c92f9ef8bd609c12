"""Exponential functions."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class Exp(Elementwise):
    """Compute the exponential function of each element.

    It is its own derivative.

    >>> import core.functions as F, numpy as np
    >>> F.exp(np.array([0, 1], "f"))
    variable([1.      , 2.718282], dtype=float32)
    """

    label = "exp"
    inline = True
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.exp(x)

    def gradient(self, xp, g, out):
        return g * out


class Expm1(Elementwise):
    """Compute exp(x) - 1 of each element, precise also near 0.

    The derivative is exp(x).

    >>> import core.functions as F, numpy as np
    >>> F.expm1(np.array([0, 1e-6], "f"))
    variable([0.0000000e+00, 1.0000005e-06], dtype=float32)
    """

    label = "expm1"
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.expm1(x)

    def gradient(self, xp, g, x):
        return g * xp.exp(x)  # result + 1 would have no digit of it far below 0


exp = function_of(Exp, "exp")
expm1 = function_of(Expm1, "expm1")
