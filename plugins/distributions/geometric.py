"""The geometric distribution."""

from __future__ import annotations

from core import Variable, as_variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import log_complement, times, within
from plugins.distributions.families import BySurvival


class Geometric(BySurvival):
    """Distributions of how many trials it takes to succeed once: 1, 2, ...

    Args:
        p: Probabilities of success, above 0 and at most 1.

    >>> import core.distributions as D, numpy as np
    >>> D.Geometric(np.full(3, 0.5, "f")).prob(np.array([0, 1, 2]))
    variable([0.  , 0.5 , 0.25], dtype=float32)
    """

    support = "{1, 2, ...}"

    def __init__(self, p: Operand) -> None:
        (self.p,) = self._parameters(p=p)
        self.log_q = log_complement(self.p)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        whole = (x.array == self.xp.floor(x.array)) & (x.array < float("inf"))
        inside = (x.array >= 1) & whole
        return within(inside, x, 1.0, self._log_mass)

    def _log_mass(self, x: Variable) -> Variable:
        return F.log(self.p) + times(x - 1, self.log_q)

    def log_survival_function(self, x: Array) -> Variable:
        whole = F.relu(F.floor(self._point(x)))
        # The array, for the slope of steps is 0, and would be multiplied by log 0.
        return times(as_variable(whole.array), self.log_q)

    def sample_n(self, n: int) -> Variable:
        xp = self.xp
        log_q = xp.log1p(-xp.astype(self.p.array, xp.float64))
        trials = xp.ceil(xp.log(self._chances(n, *self.batch_shape)) / log_q)
        within_int64 = xp.minimum(xp.maximum(trials, xp.ones_like(trials)), 2.0**62)
        return as_variable(xp.astype(within_int64, xp.int64))

    @property
    def mean(self) -> Variable:
        return 1 / self.p

    @property
    def mode(self) -> Variable:
        return self._like_this(1.0)

    @property
    def variance(self) -> Variable:
        return (1 - self.p) / (self.p * self.p)

    @property
    def entropy(self) -> Variable:
        q = 1 - self.p
        return -(times(q, self.log_q) + self.p * F.log(self.p)) / self.p
