"""Elements weighted by the normal distribution."""

from __future__ import annotations

from math import pi, sqrt

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of
from plugins.functions.math.erf import Erf


class GELU(Elementwise):
    """Apply the Gaussian error linear unit: x times the probability of a normal number below x.

    With P that probability, the derivative is P + x exp(-x^2/2) / √(2π).

    Source: Hendrycks and Gimpel 2016 (arXiv:1606.08415).

    >>> import core.functions as F, numpy as np
    >>> F.gelu(np.array([-100, 0, 100], "f"))
    variable([ -0.,   0., 100.], dtype=float32)
    """

    wide = True
    domain = Domain(x=real(-4, 4))

    def compute(self, xp, x):
        return x * (0.5 * Erf().evaluate(x * sqrt(0.5)) + 0.5)

    def gradient(self, xp, g, x):
        below = 0.5 * Erf().evaluate(x * sqrt(0.5)) + 0.5
        density = xp.exp(-0.5 * x * x) * (1 / sqrt(2 * pi))
        return g * (below + x * density)


gelu = function_of(GELU, "gelu")
