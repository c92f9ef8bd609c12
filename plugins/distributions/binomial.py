"""The binomial distribution."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.bernoulli import Bernoulli
from plugins.distributions.binomial_draws import binomial
from plugins.distributions.distribution import (
    Distribution,
    either,
    in_double,
    times,
    trials,
    where,
    within,
)
from plugins.distributions.incomplete import Betainc, Betaincc


class Binomial(Distribution):
    """Distributions of how many of n trials succeed, each with probability p.

    Args:
        n: Numbers of trials, 0, 1, ..., which have no gradient.
        p: Probabilities of success.
        logit: log(p / (1 - p)), instead.

    >>> import core.distributions as D, numpy as np
    >>> D.Binomial(2, np.full(3, 0.5)).prob(np.array([0, 1, 3]))
    variable([0.25, 0.5 , 0.  ])
    """

    support = "{0, ..., n}"

    def __init__(self, n: Operand, p: Operand | None = None, logit: Operand | None = None) -> None:
        name, value = either("Binomial", p=p, logit=logit)
        held, given = self._parameters(n=n, **{name: value})
        self.n = self._params["n"] = trials("Binomial", n, held)
        self._trial = Bernoulli(given) if name == "p" else Bernoulli(logit=given)
        self.p, self.logit = self._trial.p, self._trial.logit

    def log_prob(self, x: Array) -> Variable:
        x, n = F.broadcast(self._point(x), self.n)
        inside = (x.array >= 0) & (x.array <= n.array) & (x.array == self.xp.floor(x.array))
        return within(inside, x, 0.0, self._log_mass)

    def _log_mass(self, x: Variable) -> Variable:
        return in_double(_log_mass, x, self.n, self._trial.log_p, self._trial.log_q)

    def cdf(self, x: Array) -> Variable:
        return self._tail(Betaincc, x, 0.0, 1.0)

    def survival_function(self, x: Array) -> Variable:
        return self._tail(Betainc, x, 1.0, 0.0)

    def _tail(self, tail: Any, x: Array, below: float, above: float) -> Variable:
        """A tail by the beta distribution of the least of n numbers but floor(x)."""
        x, n, p = F.broadcast(F.floor(self._point(x)), self.n, self.p)
        low, high = x.array < 0, x.array >= n.array
        within_range = ~(low | high)
        k = where(within_range, x, 0.0)
        found = tail.call(k + 1, where(within_range, n, 1.0) - k, p)
        return where(low, below, where(high, above, found))

    def sample_n(self, n: int) -> Variable:
        xp, shape = self.xp, (n, *self.batch_shape)
        given = [xp.astype(xp.broadcast_to(x.array, shape), xp.float64) for x in (self.n, self.p)]
        return as_variable(xp.astype(binomial(xp, self._chances, *given), xp.int64))

    @property
    def mean(self) -> Variable:
        return self.n * self.p

    @property
    def mode(self) -> Variable:
        return F.minimum(F.floor((self.n + 1) * self.p), self.n)

    @property
    def variance(self) -> Variable:
        return self.n * self._trial.variance


def _log_mass(x: Variable, n: Variable, log_p: Variable, log_q: Variable) -> Variable:
    ways = F.lgamma(n + 1) - F.lgamma(x + 1) - F.lgamma(n - x + 1)
    return ways + times(x, log_p) + times(n - x, log_q)
