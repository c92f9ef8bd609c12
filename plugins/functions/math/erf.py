"""The error function."""

from __future__ import annotations

from math import pi, sqrt

from core import Domain, Elementwise, Variable, real
from core.typing import Array


class Erf(Elementwise):
    """The error function, whose derivative is 2 exp(-x^2) / √π."""

    label = "erf"
    domain = Domain("()->()", x=real(-4, 4))

    def compute(self, xp, x):
        return self.backend.erf(x)

    def gradient(self, xp, g, x):
        return g * (xp.exp(-x * x) * (2 / sqrt(pi)))


def erf(x: Array) -> Variable:
    """Compute the error function of each element: 2/√π times the integral of exp(-t²) from 0 to x.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [-1, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.erf(np.array([0, 9], "f"))
    variable([0., 1.], dtype=float32)
    """
    return Erf.call(x)
