"""The Laplace distribution."""

from __future__ import annotations

from math import log

from core import Variable
from core import functions as F
from core.typing import Array
from plugins.distributions.distribution import finite, where, within
from plugins.distributions.families import LocationScale


class Laplace(LocationScale):
    """Laplace distributions, of density exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc: Means.
        scale: Above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Laplace(np.zeros(2, "f"), 1.0).cdf(np.array([0, 1], "f"))
    variable([0.5      , 0.8160603], dtype=float32)
    """

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within(finite(x), x, self.loc.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        return -F.absolute(x - self.loc) / self.scale - F.log(self.scale) - log(2)

    def cdf(self, x: Array) -> Variable:
        return _tail(self._standard(x))

    def survival_function(self, x: Array) -> Variable:
        return _tail((self.loc - self._point(x)) / self.scale)

    def log_cdf(self, x: Array) -> Variable:
        return _log_tail(self._standard(x))

    def log_survival_function(self, x: Array) -> Variable:
        return _log_tail((self.loc - self._point(x)) / self.scale)

    def icdf(self, p: Array) -> Variable:
        p = self._point(p)
        upper = p.array > 0.5
        size = F.log(2 * where(upper, 1 - p, p))
        return self.loc + self.scale * where(upper, -size, size)

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        return 2 * self.scale * self.scale

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + (1 + log(2))


def _tail(z: Variable) -> Variable:
    """The standard distribution's cdf."""
    half = 0.5 * F.exp(-F.absolute(z))
    return where(z.array > 0, 1 - half, half)


def _log_tail(z: Variable) -> Variable:
    """Its logarithm."""
    log_half = -F.absolute(z) - log(2)
    upper = z.array > 0
    return where(upper, F.log1p(-F.exp(where(upper, log_half, -1.0))), log_half)
