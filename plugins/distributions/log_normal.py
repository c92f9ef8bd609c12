"""The log-normal distribution."""

from __future__ import annotations

from math import e, log, pi
from typing import Any

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, where, within


class LogNormal(Distribution):
    """Distributions of exp(x), where x is normal.

    Args:
        mu: Means of x.
        sigma: Standard deviations of x, above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.LogNormal(np.zeros(2, "f"), 1.0).prob(np.array([-1, 1], "f"))
    variable([0.       , 0.3989423], dtype=float32)
    """

    support = "positive"

    def __init__(self, mu: Operand, sigma: Operand) -> None:
        self.mu, self.sigma = self._parameters(mu=mu, sigma=sigma)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within((x.array > 0) & (x.array < float("inf")), x, 1.0, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        log_x = F.log(x)
        z = (log_x - self.mu) / self.sigma
        return -0.5 * z * z - log_x - F.log(self.sigma) - 0.5 * log(2 * pi)

    def cdf(self, x: Array) -> Variable:
        inside, z = self._standard(x)
        return where(inside, F.ndtr(z), 0.0)

    def survival_function(self, x: Array) -> Variable:
        inside, z = self._standard(x)
        return where(inside, F.ndtr(-z), 1.0)

    def log_cdf(self, x: Array) -> Variable:
        inside, z = self._standard(x)
        return where(inside, F.log_ndtr(z), -float("inf"))

    def log_survival_function(self, x: Array) -> Variable:
        inside, z = self._standard(x)
        return where(inside, F.log_ndtr(-z), 0.0)

    def _standard(self, x: Array) -> tuple[Any, Variable]:
        """Where x is not outside, and the point of the standard normal distribution there."""
        x = self._point(x)
        inside = ~(x.array <= 0)
        return inside, (F.log(where(inside, x, 1.0)) - self.mu) / self.sigma

    def icdf(self, p: Array) -> Variable:
        z = F.ndtri(self._point(p))
        least = z.array == -float("inf")  # where exp is 0, and its product with z has no number
        return where(least, 0.0, F.exp(self.mu + self.sigma * where(least, 0.0, z)))

    def sample_n(self, n: int) -> Variable:
        return F.exp(self.mu + self.sigma * self._normal(n, *self.batch_shape))

    @property
    def mean(self) -> Variable:
        return F.exp(self.mu + 0.5 * self.sigma * self.sigma)

    @property
    def mode(self) -> Variable:
        return F.exp(self.mu - self.sigma * self.sigma)

    @property
    def variance(self) -> Variable:
        square = self.sigma * self.sigma
        return F.expm1(square) * F.exp(2 * self.mu + square)

    @property
    def entropy(self) -> Variable:
        return self.mu + F.log(self.sigma) + 0.5 * log(2 * pi * e)
