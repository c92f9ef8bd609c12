"""The gamma distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, dense, in_double, log_power, within
from plugins.distributions.gamma_draws import StandardGamma
from plugins.distributions.incomplete import Gammainc, Gammaincc, Gammaincinv


class Gamma(Distribution):
    """Gamma distributions, of density x^(k-1) exp(-x / theta) / (Γ(k) theta^k) where x >= 0.

    Args:
        k: Shapes, above 0.
        theta: Scales, above 0.

    Gradients of draws reach both parameters, k by implicit differentiation, once.

    >>> import core.distributions as D, numpy as np
    >>> D.Gamma(np.ones(2, "f"), 0.5).prob(np.array([-1, 0.5], "f"))
    variable([0.       , 0.7357589], dtype=float32)
    """

    support = "positive"

    def __init__(self, k: Operand, theta: Operand) -> None:
        self.k, self.theta = self._parameters(k=k, theta=theta)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        inside = (x.array >= 0) & (x.array < float("inf")) & dense(x, self.k, 0.0)
        return within(inside, x, 1.0, lambda x: in_double(_log_density, x, self.k, self.theta))

    def cdf(self, x: Array) -> Variable:
        found: Variable = Gammainc.call(self.k, self._point(x) / self.theta)
        return found

    def survival_function(self, x: Array) -> Variable:
        found: Variable = Gammaincc.call(self.k, self._point(x) / self.theta)
        return found

    def icdf(self, p: Array) -> Variable:
        found: Variable = Gammaincinv.call(self.k, self._point(p))
        return self.theta * found

    def sample_n(self, n: int) -> Variable:
        drawn: Variable = StandardGamma.call(F.broadcast_to(self.k, (n, *self.batch_shape)))
        return self.theta * drawn

    @property
    def mean(self) -> Variable:
        return self.k * self.theta

    @property
    def mode(self) -> Variable:
        return F.relu(self.k - 1) * self.theta

    @property
    def variance(self) -> Variable:
        return self.k * self.theta * self.theta

    @property
    def entropy(self) -> Variable:
        return in_double(_entropy, self.k, self.theta)


def _log_density(x: Variable, k: Variable, theta: Variable) -> Variable:
    return log_power(x, k - 1) - x / theta - F.lgamma(k) - k * F.log(theta)


def _entropy(k: Variable, theta: Variable) -> Variable:
    return k + F.log(theta) + F.lgamma(k) + (1 - k) * F.digamma(k)
