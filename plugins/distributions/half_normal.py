"""The half-normal distribution."""

from __future__ import annotations

from math import e, log, pi, sqrt

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, where, within


class HalfNormal(Distribution):
    """Distributions of |x|, where x is normal, of mean 0.

    Args:
        scale: Standard deviations of x, above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.HalfNormal(np.ones(2)).prob(np.array([-1.0, 1.0]))
    variable([0.        , 0.48394145])
    """

    support = "not negative"

    def __init__(self, scale: Operand) -> None:
        (self.scale,) = self._parameters(scale=scale)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        inside = (x.array >= 0) & (x.array < float("inf"))
        return within(inside, x, 0.0, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        z = x / self.scale
        return -0.5 * z * z - F.log(self.scale) + 0.5 * log(2 / pi)

    def cdf(self, x: Array) -> Variable:
        return F.erf(self._standard(x) * sqrt(0.5))

    def survival_function(self, x: Array) -> Variable:
        return F.erfc(self._standard(x) * sqrt(0.5))

    def log_survival_function(self, x: Array) -> Variable:
        far = self._standard(x).array > 1
        near = super().log_survival_function(where(far, 0.0, self._point(x)))
        return where(far, F.log_ndtr(-self._standard(x)) + log(2), near)

    def _standard(self, x: Array) -> Variable:
        found: Variable = F.relu(self._point(x)) / self.scale
        return found

    def icdf(self, p: Array) -> Variable:
        return sqrt(2) * self.scale * F.erfinv(self._probability(p))

    def sample_n(self, n: int) -> Variable:
        drawn: Variable = self.scale * abs(self._normal(n, *self.batch_shape))
        return drawn

    @property
    def mean(self) -> Variable:
        return sqrt(2 / pi) * self.scale

    @property
    def mode(self) -> Variable:
        return self._like_this(0.0)

    @property
    def variance(self) -> Variable:
        return (1 - 2 / pi) * self.scale * self.scale

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + 0.5 * log(0.5 * pi * e)
