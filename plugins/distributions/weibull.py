"""The Weibull distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import in_double, log_power, where, within
from plugins.distributions.families import BySurvival
from plugins.distributions.gumbel import EULER


class Weibull(BySurvival):
    """Weibull distributions, of times to a failure: cdf(x) = 1 - exp(-(x / scale)^k).

    Args:
        scale: Above 0; the time until which 63 % have failed.
        k: Shapes, above 0: failures become rarer below 1, and more frequent above.

    >>> import core.distributions as D, numpy as np
    >>> D.Weibull(np.ones(2), 2.0).prob(np.array([-1.0, 1.0]))
    variable([0.        , 0.73575888])
    """

    support = "not negative"

    def __init__(self, scale: Operand, k: Operand) -> None:
        self.scale, self.k = self._parameters(scale=scale, k=k)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within((x.array >= 0) & (x.array < float("inf")), x, 1.0, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        known = F.log(self.k) - self.k * F.log(self.scale) + self.log_survival_function(x)
        return log_power(x, self.k - 1) + known

    def log_survival_function(self, x: Array) -> Variable:
        x = self._point(x)
        inside = ~(x.array <= 0)  # at 0 the slope of a power may be infinite
        return where(inside, -((where(inside, x, 1.0) / self.scale) ** self.k), 0.0)

    def icdf(self, p: Array) -> Variable:
        return self.scale * (-F.log1p(-self._probability(p))) ** (1 / self.k)

    def sample_n(self, n: int) -> Variable:
        return self.scale * (-F.log(self._uniform(n, *self.batch_shape))) ** (1 / self.k)

    @property
    def mean(self) -> Variable:
        return self.scale * F.exp(F.lgamma(1 + 1 / self.k))

    @property
    def mode(self) -> Variable:
        above = self.k.array > 1
        k = where(above, self.k, 2.0)
        return where(above, self.scale * (1 - 1 / k) ** (1 / k), 0.0)

    @property
    def variance(self) -> Variable:
        return in_double(_variance, self.scale, self.k)

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) - F.log(self.k) + EULER * (1 - 1 / self.k) + 1


def _variance(scale: Variable, k: Variable) -> Variable:
    """Of the logarithms of the mean and of that of squares."""
    mean, square = F.lgamma(1 + 1 / k), F.lgamma(1 + 2 / k)
    return scale * scale * F.exp(2 * mean) * F.expm1(square - 2 * mean)
