"""The logistic distribution."""

from __future__ import annotations

from math import pi

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution


class Logistic(Distribution):
    """Logistic distributions: cdf(x) = 1 / (1 + exp(-(x - loc) / scale)).

    Args:
        loc: Means.
        scale: Above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Logistic(np.zeros(2), 1.0).cdf(np.array([0.0, 1.0]))
    variable([0.5       , 0.73105858])
    """

    def __init__(self, loc: Operand, scale: Operand) -> None:
        self.loc, self.scale = self._parameters(loc=loc, scale=scale)

    def log_prob(self, x: Array) -> Variable:
        z = self._standard(x)
        return -F.softplus(z) - F.softplus(-z) - F.log(self.scale)

    def cdf(self, x: Array) -> Variable:
        return F.sigmoid(self._standard(x))

    def survival_function(self, x: Array) -> Variable:
        return F.sigmoid(-self._standard(x))

    def log_cdf(self, x: Array) -> Variable:
        return -F.softplus(-self._standard(x))

    def log_survival_function(self, x: Array) -> Variable:
        return -F.softplus(self._standard(x))

    def _standard(self, x: Array) -> Variable:
        return (self._point(x) - self.loc) / self.scale

    def icdf(self, p: Array) -> Variable:
        p = self._probability(p)
        return self.loc + self.scale * (F.log(p) - F.log1p(-p))

    def sample_n(self, n: int) -> Variable:
        return self.icdf(self._uniform(n, *self.batch_shape))

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        return pi**2 / 3 * self.scale * self.scale

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + 2
