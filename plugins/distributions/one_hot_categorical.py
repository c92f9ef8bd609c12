"""The categorical distribution over one-hot vectors."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.categorical import Categorical
from plugins.distributions.distribution import Distribution, where


class OneHotCategorical(Distribution):
    """Distributions of one-hot vectors of k elements.

    Args:
        p: (..., k), probabilities that sum to 1.

    >>> import core.distributions as D, numpy as np
    >>> D.OneHotCategorical(np.array([0.25, 0.75], "f")).prob(np.array([0, 1], "f"))
    variable(0.75, dtype=float32)
    """

    support = "one-hot vectors"

    def __init__(self, p: Operand) -> None:
        (self.p,) = self._parameters(1, p=p)
        self._index = Categorical(self.p)
        self.log_p = self._index.log_p

    def log_prob(self, x: Array) -> Variable:
        x, log_p = F.broadcast(self._point(self._complete(x)), self.log_p)
        return F.sum(x * where(x.array > 0, log_p, 0.0), axis=-1)

    def sample_n(self, n: int) -> Variable:
        return F.one_hot(self._index.sample_n(n), self.event_shape[0], dtype=self.p.dtype)

    @property
    def mean(self) -> Variable:
        return self.p

    @property
    def mode(self) -> Variable:
        return F.one_hot(self._index.mode, self.event_shape[0], dtype=self.p.dtype)

    @property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)

    @property
    def covariance(self) -> Variable:
        p = self.p
        eye = self.xp.eye(self.event_shape[0], dtype=p.dtype)
        column = F.expand_dims(p, -1)
        found: Variable = column * eye - column * F.expand_dims(p, -2)
        return found

    @property
    def entropy(self) -> Variable:
        return self._index.entropy
