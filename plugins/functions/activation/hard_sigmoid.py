"""A piecewise linear sigmoid."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class HardSigmoid(Elementwise):
    """Apply a piecewise linear sigmoid: 0.2 * x + 0.5, clipped to [0, 1].

    The derivative is 0.2 for |x| < 2.5, else 0.

    >>> import core.functions as F, numpy as np
    >>> F.hard_sigmoid(np.array([-3, 0, 3], "f"))
    variable([0. , 0.5, 1. ], dtype=float32)
    """

    domain = Domain(x=real(-4, 4), kinks=(-2.5, 2.5))

    def compute(self, xp, x):
        return xp.minimum(xp.maximum(0.2 * x + 0.5, 0.0), 1.0)

    def gradient(self, xp, g, x):
        return xp.where(xp.abs(x) < 2.5, 0.2 * g, 0.0)


hard_sigmoid = function_of(HardSigmoid, "hard_sigmoid")
