"""The Cauchy distribution."""

from __future__ import annotations

from math import log, pi

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution


class Cauchy(Distribution):
    """Cauchy distributions, of density scale / (π (scale² + (x - loc)²)).

    They have neither mean nor variance.

    Args:
        loc: Medians.
        scale: Above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Cauchy(np.zeros(2, "f"), 1.0).cdf(np.array([0, 1], "f"))
    variable([0.5 , 0.75], dtype=float32)
    """

    def __init__(self, loc: Operand, scale: Operand) -> None:
        self.loc, self.scale = self._parameters(loc=loc, scale=scale)

    def log_prob(self, x: Array) -> Variable:
        z = (self._point(x) - self.loc) / self.scale
        return -F.log1p(z * z) - F.log(self.scale) - log(pi)

    def cdf(self, x: Array) -> Variable:
        return F.arctan((self._point(x) - self.loc) / self.scale) / pi + 0.5

    def icdf(self, p: Array) -> Variable:
        return self.loc + self.scale * F.tan(pi * (self._point(p) - 0.5))

    def sample_n(self, n: int) -> Variable:
        return self.icdf(self._uniform(n, *self.batch_shape))

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + log(4 * pi)
