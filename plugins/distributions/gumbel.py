"""The Gumbel distribution."""

from __future__ import annotations

from math import pi

from core import Variable
from core import functions as F
from core.typing import Array
from plugins.distributions.distribution import where, within
from plugins.distributions.families import LocationScale

EULER = 0.5772156649015329
LOWEST = -10.0  # below which exp(-exp(-z)) is 0 in double precision
FAR = 20.0  # from there on, 1 - exp(-y) is y exp(-y/2) in double precision, for y = exp(-z)


class Gumbel(LocationScale):
    """Gumbel distributions: cdf(x) = exp(-exp(-(x - loc) / scale)).

    Args:
        loc: Modes.
        scale: Above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Gumbel(np.zeros(1, "f"), 1.0).mean
    variable([0.5772157], dtype=float32)
    """

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        z = self._standard(x).array
        inside = (self.xp.exp(-z) < float("inf")) & (z < float("inf"))
        return within(inside, x, self.loc.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        z = self._standard(x)
        return -z - F.exp(-z) - F.log(self.scale)

    def cdf(self, x: Array) -> Variable:
        return F.exp(-self._fall(x))

    def _fall(self, x: Array) -> Variable:
        """Exp(-z), or what is so great that exp of its negative is 0, but has no infinite slope."""
        z = self._standard(x)
        return F.exp(-where(z.array < LOWEST, LOWEST, z))

    def log_cdf(self, x: Array) -> Variable:
        return -F.exp((self.loc - self._point(x)) / self.scale)

    def survival_function(self, x: Array) -> Variable:
        return -F.expm1(-self._fall(x))

    def log_survival_function(self, x: Array) -> Variable:
        z = self._standard(x)
        far = z.array > FAR
        near = super().log_survival_function(where(far, self.loc, self._point(x)))
        return where(far, -z - 0.5 * F.exp(-where(far, z, FAR)), near)

    def icdf(self, p: Array) -> Variable:
        return self.loc - self.scale * F.log(-F.log(self._point(p)))

    @property
    def mean(self) -> Variable:
        return self.loc + EULER * self.scale

    @property
    def variance(self) -> Variable:
        return pi**2 / 6 * self.scale * self.scale

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + (1 + EULER)
