"""What families of distributions have in common beside what all have."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution


class LocationScale(Distribution):
    """Distributions of loc + scale z, where the mode of z is 0."""

    def __init__(self, loc: Operand, scale: Operand) -> None:
        self.loc, self.scale = self._parameters(loc=loc, scale=scale)

    def _standard(self, x: Array) -> Variable:
        return (self._point(x) - self.loc) / self.scale

    def sample_n(self, n: int) -> Variable:
        return self.icdf(self._uniform(n, *self.batch_shape))

    @property
    def mode(self) -> Variable:
        return self.loc


class BySurvival(Distribution):
    """Distributions whose `log_survival_function` gives the others."""

    def cdf(self, x: Array) -> Variable:
        return -F.expm1(self.log_survival_function(x))

    def survival_function(self, x: Array) -> Variable:
        return F.exp(self.log_survival_function(x))
