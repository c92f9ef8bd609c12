"""The beta distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.beta_draws import StandardBeta
from plugins.distributions.distribution import (
    Distribution,
    dense,
    in_double,
    log_beta,
    log_power,
    within,
)
from plugins.distributions.incomplete import Betainc, Betaincc, Betaincinv


class Beta(Distribution):
    """Beta distributions, of density x^(a-1) (1-x)^(b-1) / B(a, b) in [0, 1].

    Args:
        a: Above 0.
        b: Above 0.

    Gradients of draws reach both parameters, once.

    >>> import core.distributions as D, numpy as np
    >>> D.Beta(np.full(2, 2, "f"), 2.0).prob(np.array([0.5, 2], "f"))
    variable([1.4999999, 0.       ], dtype=float32)
    """

    support = "[0, 1]"

    def __init__(self, a: Operand, b: Operand) -> None:
        self.a, self.b = self._parameters(a=a, b=b)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        inside = (x.array >= 0) & (x.array <= 1)
        inside = inside & dense(x, self.a, 0.0) & dense(x, self.b, 1.0)
        return within(inside, x, 0.5, lambda x: in_double(_log_density, x, self.a, self.b))

    def cdf(self, x: Array) -> Variable:
        found: Variable = Betainc.call(self.a, self.b, self._point(x))
        return found

    def survival_function(self, x: Array) -> Variable:
        found: Variable = Betaincc.call(self.a, self.b, self._point(x))
        return found

    def icdf(self, p: Array) -> Variable:
        found: Variable = Betaincinv.call(self.a, self.b, self._point(p))
        return found

    @property
    def log_beta(self) -> Variable:
        return in_double(log_beta, self.a, self.b)

    def sample_n(self, n: int) -> Variable:
        shape = (n, *self.batch_shape)
        drawn: Variable = StandardBeta.call(*[F.broadcast_to(k, shape) for k in (self.a, self.b)])
        return drawn

    @property
    def mean(self) -> Variable:
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> Variable:
        total = self.a + self.b
        return (self.a / total) * (self.b / total) / (total + 1)

    @property
    def entropy(self) -> Variable:
        return in_double(_entropy, self.a, self.b)


def _log_density(x: Variable, a: Variable, b: Variable) -> Variable:
    upper = log_power(x, b - 1, lambda x: F.log1p(-x), 1.0)
    return log_power(x, a - 1) + upper - log_beta(a, b)


def _entropy(a: Variable, b: Variable) -> Variable:
    known = (a + b - 2) * F.digamma(a + b)
    return log_beta(a, b) - (a - 1) * F.digamma(a) - (b - 1) * F.digamma(b) + known
