"""The Dirichlet distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, dense, in_double, log_power, where
from plugins.distributions.gamma_draws import LogStandardGamma
from plugins.distributions.limits import limits


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
    def log_norm(self) -> Variable:
        return in_double(log_norm, self.alpha)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(self._complete(x))
        inside = (x.array >= 0) & (x.array < float("inf")) & dense(x, self.alpha, 0.0)
        inside = self.xp.all(inside, axis=-1) | self.xp.any(x.array != x.array, axis=-1)
        known = where(self.xp.expand_dims(inside, axis=-1), x, 0.5)
        return where(inside, in_double(_log_density, known, self.alpha), -float("inf"))

    def sample_n(self, n: int) -> Variable:
        alpha = F.broadcast_to(self.alpha, (n, *self.alpha.shape))
        info = limits(self.xp, alpha.dtype)
        wide = F.cast(alpha, "float32") if info.bits < 32 else alpha
        shares = F.softmax(LogStandardGamma.call(wide), axis=-1)
        return F.cast(F.clip(shares, float(info.smallest_normal), 1.0), alpha.dtype)

    @property
    def mean(self) -> Variable:
        return self.alpha / F.sum(self.alpha, axis=-1, keepdims=True)

    @property
    def variance(self) -> Variable:
        total = F.sum(self.alpha, axis=-1, keepdims=True)
        return (self.alpha / total) * ((total - self.alpha) / total) / (total + 1)

    @property
    def entropy(self) -> Variable:
        return in_double(_entropy, self.alpha)


def log_norm(alpha: Variable) -> Variable:
    """The logarithm of what densities are divided by, of what is float64."""
    return F.sum(F.lgamma(alpha), axis=-1) - F.lgamma(F.sum(alpha, axis=-1))


def _log_density(x: Variable, alpha: Variable) -> Variable:
    return F.sum(log_power(x, alpha - 1), axis=-1) - log_norm(alpha)


def _entropy(alpha: Variable) -> Variable:
    total = F.sum(alpha, axis=-1)
    each = F.sum((alpha - 1) * F.digamma(alpha), axis=-1)
    return log_norm(alpha) + (total - alpha.shape[-1]) * F.digamma(total) - each
