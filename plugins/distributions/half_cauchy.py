"""The half-Cauchy distribution."""

from __future__ import annotations

from math import log, pi

from core import Variable, as_variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.cauchy import Cauchy
from plugins.distributions.distribution import Distribution, where, within


class HalfCauchy(Distribution):
    """Distributions of |x|, where x is of a Cauchy distribution about 0.

    Their mean and variance are infinite.

    Args:
        scale: Medians, above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.HalfCauchy(np.ones(2)).cdf(np.array([-1.0, 1.0]))
    variable([0. , 0.5])
    """

    support = "not negative"

    def __init__(self, scale: Operand) -> None:
        (self.scale,) = self._parameters(scale=scale)
        self._whole = Cauchy(0 * self.scale, self.scale)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        inside = (x.array >= 0) & (x.array < float("inf"))
        return within(inside, x, 0.0, lambda x: self._whole.log_prob(x) + log(2))

    def cdf(self, x: Array) -> Variable:
        return F.arctan2(*F.broadcast(F.relu(self._point(x)), self.scale)) * (2 / pi)

    def survival_function(self, x: Array) -> Variable:
        return 2 * self._whole.survival_function(F.relu(self._point(x)))

    def icdf(self, p: Array) -> Variable:
        p = self._probability(p)
        far = p.array > 0.5  # where 1 / tan is precise, and infinite at 1
        slope = F.tan(0.5 * pi * where(far, 1 - p, p))
        return self.scale * where(far, 1 / where(far, slope, 1.0), slope)

    def sample_n(self, n: int) -> Variable:
        drawn = as_variable(self._uniform(n, *self.batch_shape))
        return self.scale * F.tan(0.5 * pi * drawn)

    @property
    def mean(self) -> Variable:
        return self._like_this(float("inf"))

    @property
    def mode(self) -> Variable:
        return self._like_this(0.0)

    @property
    def variance(self) -> Variable:
        return self._like_this(float("inf"))

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + log(2 * pi)
