"""The error function."""

from __future__ import annotations

from math import pi, sqrt

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of
from plugins.functions.math import error_functions


class Erf(Elementwise):
    """Compute the error function of each element: 2/√π times the integral of exp(-t²) from 0 to x.

    The derivative is 2 exp(-x^2) / √π.

    Returns:
        The shape and dtype of `x`, in [-1, 1].

    >>> import core.functions as F, numpy as np
    >>> F.erf(np.array([0, 9], "f"))
    variable([0., 1.], dtype=float32)
    """

    label = "erf"
    wide = True
    domain = Domain(x=real(-4, 4))

    def compute(self, xp, x):
        return error_functions.erf(xp, x)

    def gradient(self, xp, g, x):
        return g * (xp.exp(-x * x) * (2 / sqrt(pi)))


erf = function_of(Erf, "erf")
