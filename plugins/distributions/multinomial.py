"""The multinomial distribution."""

from __future__ import annotations

from core import Variable, as_variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.binomial_draws import binomial
from plugins.distributions.categorical import Categorical
from plugins.distributions.distribution import (
    Distribution,
    either,
    in_double,
    times,
    trials,
    where,
)
from plugins.distributions.one_hot_categorical import OneHotCategorical


class Multinomial(Distribution):
    """Distributions of how often each of k classes comes in n trials.

    Args:
        n: Numbers of trials, 0, 1, ..., of the shape of the batch, or one; without a gradient.
        p: (..., k), probabilities that sum to 1.
        logit: (..., k), their logarithms up to a constant, instead.

    Counts that do not sum to n have the probability 0.

    >>> import core.distributions as D, numpy as np
    >>> D.Multinomial(2, np.array([0.5, 0.5])).prob(np.array([[1, 1], [2, 0], [2, 1]]))
    variable([0.5 , 0.25, 0.  ])
    """

    support = "counts that sum to n"

    def __init__(self, n: Operand, p: Operand | None = None, logit: Operand | None = None) -> None:
        name, value = either("Multinomial", p=p, logit=logit)
        (given,) = self._parameters(1, **{name: value})
        self._class = Categorical(**{name: given})
        self.p = self._class.p
        self.n = F.broadcast_to(trials("Multinomial", n, self._point(n)), self.batch_shape)
        self._params["n"] = self.n

    def log_prob(self, x: Array) -> Variable:
        x = self._point(self._complete(x))
        xp, counts, n = self.xp, x.array, self.n.array
        inside = xp.all((counts >= 0) & (counts == xp.floor(counts)), axis=-1)
        inside = inside & (xp.sum(counts, axis=-1) == n)
        inside = inside | xp.any(counts != counts, axis=-1)  # NaN stays NaN
        known = where(xp.expand_dims(inside, axis=-1), x, 0.0)
        return where(inside, in_double(_log_mass, known, self.n, self._class.log_p), -float("inf"))

    def sample_n(self, n: int) -> Variable:
        """By binomial draws: how many of those that are left are of each class."""
        xp, shape = self.xp, (n, *self.batch_shape)
        p = xp.astype(self.p.array, xp.float64)
        p = [xp.broadcast_to(p[..., i], shape) for i in range(p.shape[-1])]
        left = xp.astype(xp.broadcast_to(self.n.array, shape), xp.float64)
        drawn = []
        for i in range(len(p) - 1):
            rest = sum(p[i + 1 :], p[i])
            share = xp.where(rest > 0, p[i] / xp.where(rest > 0, rest, 1.0), 0.0)
            drawn.append(binomial(xp, self._chances, left, share))
            left = left - drawn[-1]
        return as_variable(xp.astype(xp.stack([*drawn, left], axis=-1), xp.int64))

    @property
    def _trials(self) -> Variable:
        return F.expand_dims(self.n, -1)

    @property
    def mean(self) -> Variable:
        return self._trials * self.p

    @property
    def variance(self) -> Variable:
        return self._trials * self.p * (1 - self.p)

    @property
    def covariance(self) -> Variable:
        return F.expand_dims(self._trials, -1) * OneHotCategorical(self.p).covariance


def _log_mass(x: Variable, n: Variable, log_p: Variable) -> Variable:
    terms = times(x, log_p) - F.lgamma(x + 1)
    return F.lgamma(n + 1) + F.sum(terms, axis=-1)
