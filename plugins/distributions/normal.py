"""The normal distribution."""

from __future__ import annotations

from math import e, log, pi

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, either, finite, within


class Normal(Distribution):
    """Normal distributions, of density exp(-(x - loc)² / (2 scale²)) / (scale √(2π)).

    Args:
        loc: Means.
        scale: Standard deviations, above 0.
        log_scale: Their logarithms, instead.

    >>> import core.distributions as D, numpy as np
    >>> D.Normal(np.zeros(2, "f"), 1.0).log_prob(np.array([0, 1], "f"))
    variable([-0.9189385, -1.4189385], dtype=float32)
    """

    def __init__(
        self, loc: Operand, scale: Operand | None = None, log_scale: Operand | None = None
    ) -> None:
        name, spread = either("Normal", scale=scale, log_scale=log_scale)
        self.loc, given = self._parameters(loc=loc, **{name: spread})
        self.scale = given if name == "scale" else F.exp(given)
        self.log_scale = F.log(given) if name == "scale" else given

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within(finite(x), x, self.loc.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        z = (x - self.loc) / self.scale
        return -0.5 * z * z - self.log_scale - 0.5 * log(2 * pi)

    def cdf(self, x: Array) -> Variable:
        return F.ndtr((self._point(x) - self.loc) / self.scale)

    def log_cdf(self, x: Array) -> Variable:
        return F.log_ndtr((self._point(x) - self.loc) / self.scale)

    def survival_function(self, x: Array) -> Variable:
        return F.ndtr((self.loc - self._point(x)) / self.scale)

    def log_survival_function(self, x: Array) -> Variable:
        return F.log_ndtr((self.loc - self._point(x)) / self.scale)

    def icdf(self, p: Array) -> Variable:
        return self.loc + self.scale * F.ndtri(self._point(p))

    def sample_n(self, n: int) -> Variable:
        found: Variable = self.loc + self.scale * self._normal(n, *self.batch_shape)
        return found

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        return self.scale * self.scale

    @property
    def stddev(self) -> Variable:
        return self.scale

    @property
    def entropy(self) -> Variable:
        return self.log_scale + 0.5 * log(2 * pi * e)
