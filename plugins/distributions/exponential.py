"""The exponential distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import within
from plugins.distributions.families import BySurvival


class Exponential(BySurvival):
    """Exponential distributions, of density lam exp(-lam x) where x is not negative.

    Args:
        lam: Rates, above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Exponential(np.full(2, 2, "f")).prob(np.array([-1, 0], "f"))
    variable([0., 2.], dtype=float32)
    """

    support = "not negative"

    def __init__(self, lam: Operand) -> None:
        (self.lam,) = self._parameters(lam=lam)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        inside = (x.array >= 0) & (x.array < float("inf"))
        return within(inside, x, 0.0, lambda x: F.log(self.lam) - self.lam * x)

    def log_survival_function(self, x: Array) -> Variable:
        return -self.lam * F.relu(self._point(x))

    def icdf(self, p: Array) -> Variable:
        return -F.log1p(-self._probability(p)) / self.lam

    def sample_n(self, n: int) -> Variable:
        return -F.log(self._uniform(n, *self.batch_shape)) / self.lam

    @property
    def mean(self) -> Variable:
        return 1 / self.lam

    @property
    def mode(self) -> Variable:
        return self._like_this(0.0)

    @property
    def variance(self) -> Variable:
        return 1 / (self.lam * self.lam)

    @property
    def entropy(self) -> Variable:
        return 1 - F.log(self.lam)
