"""The Weibull distribution."""

from __future__ import annotations

from math import log

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import (
    Distribution,
    dense,
    in_double,
    log_power,
    where,
    within,
)
from plugins.distributions.gumbel import EULER

VANISHED = 1e4  # exp of its negative is 0 in double precision
GREAT = 50.0  # shapes from which on logarithms of gamma functions, of nearly 1, cancel

_ZETA = (
    *(1.6449340668482264, 1.2020569031595943, 1.0823232337111382, 1.03692775514337),
    *(1.0173430619844491, 1.0083492773819228, 1.0040773561979443, 1.0020083928260822),
    *(1.0009945751278181, 1.0004941886041195),
)
"""Riemann's zeta function of 2, 3, ..., of which the series of log Γ(1 + x) is made."""


class Weibull(Distribution):
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
        steep = self.log_survival_function(x).array > -float("inf")
        inside = (x.array >= 0) & steep & dense(x, self.k, 0.0)
        return within(inside, x, self.scale.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        known = F.log(self.k) - self.k * F.log(self.scale) + self.log_survival_function(x)
        return log_power(x, self.k - 1) + known

    def cdf(self, x: Array) -> Variable:
        return -F.expm1(-self._fall(x))

    def survival_function(self, x: Array) -> Variable:
        return F.exp(-self._fall(x))

    def _fall(self, x: Array) -> Variable:
        """(x / scale)^k, or what is so great that exp of its negative is 0, without a slope."""
        ratio = self._point(x) / self.scale
        far = self.k.array * self.xp.log(where(ratio.array > 1, ratio, 1.0).array) > log(VANISHED)
        return where(far, VANISHED, self._power(where(far, 1.0, ratio)))

    def _power(self, ratio: Variable) -> Variable:
        some = ~(ratio.array <= 0)  # at 0 the slope of a power may be infinite
        return where(some, where(some, ratio, 1.0) ** self.k, 0.0)

    def log_survival_function(self, x: Array) -> Variable:
        return -self._power(self._point(x) / self.scale)

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
    inverse = 1 / k
    mean = F.lgamma(1 + inverse)
    great = k.array > GREAT  # where the difference of the logarithms is that of its series
    few, many = where(great, 1.0, inverse), where(great, inverse, 0.0)
    direct = F.lgamma(1 + 2 * few) - 2 * F.lgamma(1 + few)
    series = 0 * many
    for n in range(len(_ZETA) + 1, 1, -1):
        series = series * -many + _ZETA[n - 2] * ((2.0**n - 2) / n)
    apart = where(great, many * many * series, direct)
    return scale * scale * F.exp(2 * mean) * F.expm1(apart)
