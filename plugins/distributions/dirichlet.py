"""The Dirichlet distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, log_power, within
from plugins.distributions.gamma_draws import LogStandardGamma


class Dirichlet(Distribution):
    """Dirichlet distributions, of density Π xᵢ^(alphaᵢ-1) Γ(Σ alpha) / Π Γ(alphaᵢ) on the simplex.

    Args:
        alpha: (..., k), above 0.

    Gradients of draws reach alpha, once.

    >>> import core.distributions as D, numpy as np
    >>> D.Dirichlet(np.array([1, 1, 2], "f")).mean
    variable([0.25, 0.25, 0.5 ], dtype=float32)
    """

    support = "simplex"

    def __init__(self, alpha: Operand) -> None:
        (self.alpha,) = self._parameters(1, alpha=alpha)

    @property
    def _total(self) -> Variable:
        return F.sum(self.alpha, axis=-1)

    @property
    def log_norm(self) -> Variable:
        return F.sum(F.lgamma(self.alpha), axis=-1) - F.lgamma(self._total)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        terms = within(x.array >= 0, x, 0.5, lambda x: log_power(x, self.alpha - 1))
        return F.sum(terms, axis=-1) - self.log_norm

    def sample_n(self, n: int) -> Variable:
        alpha = F.broadcast_to(self.alpha, (n, *self.alpha.shape))
        shares = F.softmax(LogStandardGamma.call(alpha), axis=-1)
        return F.clip(shares, float(self.xp.finfo(shares.dtype).smallest_normal), 1.0)

    @property
    def mean(self) -> Variable:
        return self.alpha / F.sum(self.alpha, axis=-1, keepdims=True)

    @property
    def variance(self) -> Variable:
        total = F.sum(self.alpha, axis=-1, keepdims=True)
        return (self.alpha / total) * ((total - self.alpha) / total) / (total + 1)

    @property
    def entropy(self) -> Variable:
        k = self.event_shape[0]
        each = F.sum((self.alpha - 1) * F.digamma(self.alpha), axis=-1)
        return self.log_norm + (self._total - k) * F.digamma(self._total) - each
