"""The Cauchy distribution."""

from __future__ import annotations

from math import log, pi

from core import Variable, as_variable
from core import functions as F
from core.typing import Array
from plugins.distributions.distribution import finite, log1p_square, where, within
from plugins.distributions.families import LocationScale


class Cauchy(LocationScale):
    """Cauchy distributions, of density scale / (π (scale² + (x - loc)²)).

    They have neither mean nor variance.

    Args:
        loc: Medians.
        scale: Above 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Cauchy(np.zeros(2, "f"), 1.0).cdf(np.array([0, 1], "f"))
    variable([0.5 , 0.75], dtype=float32)
    """

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        return within(finite(x), x, self.loc.array, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        z = self._standard(x)
        return -log1p_square(z) - F.log(self.scale) - log(pi)

    def cdf(self, x: Array) -> Variable:
        return F.arctan2(self.scale, self.loc - self._point(x)) / pi

    def survival_function(self, x: Array) -> Variable:
        return F.arctan2(self.scale, self._point(x) - self.loc) / pi

    def icdf(self, p: Array) -> Variable:
        p = self._probability(p)
        upper = p.array > 0.5
        tail = where(upper, 1 - p, p + 0)  # of -0.0, too, whose inverse has the other sign
        far = tail.array < 0.25  # where 1 / tan is precise, and infinite at 0
        size = where(
            far,
            1 / F.tan(pi * where(far, tail, 0.25)),
            F.tan(pi * (0.5 - where(far, 0.25, tail))),
        )
        return self.loc + self.scale * where(upper, size, -size)

    def sample_n(self, n: int) -> Variable:
        drawn = as_variable(self._uniform(n, *self.batch_shape))
        return self.loc + self.scale * F.tan(pi * (drawn - 0.5))

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale) + log(4 * pi)
