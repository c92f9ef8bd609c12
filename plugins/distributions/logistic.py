"""The logistic distribution."""

from __future__ import annotations

from math import pi

from core import Variable
from core import functions as F
from core.typing import Array
from plugins.distributions.distribution import finite, within
from plugins.distributions.families import LocationScale


class Logistic(LocationScale):
    """Logistic distributions: cdf(x) = 1 / (1 + exp(-(x - loc) / scale)).

    Args:
        loc: Means.
        scale: Above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Logistic(np.zeros(2), 1.0).cdf(np.array([0.0, 1.0]))
    variable([0.5       , 0.73105858])
    """

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within(finite(x), x, self.loc.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
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

    def icdf(self, p: Array) -> Variable:
        p = self._probability(p)
        return self.loc + self.scale * (F.log(p) - F.log1p(-p))

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        return pi**2 / 3 * self.scale * self.scale

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + 2
