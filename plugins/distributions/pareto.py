"""The Pareto distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import where, within
from plugins.distributions.families import BySurvival


class Pareto(BySurvival):
    """Pareto distributions, of density alpha scale^alpha / x^(alpha + 1) from `scale` on.

    Args:
        scale: The least points, above 0.
        alpha: How fast the tail falls, above 0.

    The mean is infinite for alpha <= 1, the variance for alpha <= 2.

    >>> import core.distributions as D, numpy as np
    >>> D.Pareto(np.ones(2, "f"), 2.0).prob(np.array([0.5, 1], "f"))
    variable([0., 2.], dtype=float32)
    """

    support = "[scale, inf)"

    def __init__(self, scale: Operand, alpha: Operand) -> None:
        self.scale, self.alpha = self._parameters(scale=scale, alpha=alpha)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        x, scale = F.broadcast(x, self.scale)
        inside = (x.array >= scale.array) & (x.array < float("inf"))
        return within(inside, x, 1.0, self._log_density)

    def _log_density(self, x: Variable) -> Variable:
        return F.log(self.alpha) + self.alpha * F.log(self.scale) - (self.alpha + 1) * F.log(x)

    def log_survival_function(self, x: Array) -> Variable:
        x, scale = F.broadcast(self._point(x), self.scale)
        return self.alpha * F.log(scale / F.maximum(x, scale))

    def icdf(self, p: Array) -> Variable:
        return self.scale * F.exp(-F.log1p(-self._probability(p)) / self.alpha)

    def sample_n(self, n: int) -> Variable:
        return self.scale * F.exp(-F.log(self._uniform(n, *self.batch_shape)) / self.alpha)

    @property
    def mean(self) -> Variable:
        finite = self.alpha.array > 1
        alpha = where(finite, self.alpha, 2.0)
        return where(finite, alpha * self.scale / (alpha - 1), float("inf"))

    @property
    def mode(self) -> Variable:
        return self.scale

    @property
    def variance(self) -> Variable:
        finite = self.alpha.array > 2
        alpha = where(finite, self.alpha, 3.0)
        ratio = self.scale / (alpha - 1)
        return where(finite, ratio * ratio * alpha / (alpha - 2), float("inf"))

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale / self.alpha) + 1 / self.alpha + 1
