"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.bernoulli import Bernoulli
from plugins.distributions.distribution import Distribution, either, in_double, times, where, within
from plugins.distributions.gamma import Gamma
from plugins.distributions.incomplete import Betainc, Betaincc
from plugins.distributions.poisson import Poisson


class NegativeBinomial(Distribution):
    """Distributions of how many trials fail before r succeed, each with probability p.

    They are counts of more variance than mean: Poisson ones of a mean that a gamma distribution
    gives. The mean is m for p = r / (r + m), or the logit log(r / m). PyTorch's count successes
    before failures: its `probs` is 1 - p.

    Args:
        r: Above 0, whole or not.
        p: Probabilities of success, above 0.
        logit: log(p / (1 - p)), instead.

    >>> import core.distributions as D, numpy as np
    >>> D.NegativeBinomial(2.0, np.full(3, 0.5)).prob(np.array([-1, 0, 1]))
    variable([0.  , 0.25, 0.25])
    """

    support = "{0, 1, ...}"

    def __init__(self, r: Operand, p: Operand | None = None, logit: Operand | None = None) -> None:
        name, value = either("NegativeBinomial", p=p, logit=logit)
        self.r, given = self._parameters(r=r, **{name: value})
        self._trial = Bernoulli(given) if name == "p" else Bernoulli(logit=given)
        self.p, self.logit = self._trial.p, self._trial.logit

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        whole = (x.array == self.xp.floor(x.array)) & (x.array < float("inf"))
        return within((x.array >= 0) & whole, x, 0.0, self._log_mass)

    def _log_mass(self, x: Variable) -> Variable:
        return in_double(_log_mass, x, self.r, self._trial.log_p, self._trial.log_q)

    def cdf(self, x: Array) -> Variable:
        return self._tail(Betainc, x, 0.0)

    def survival_function(self, x: Array) -> Variable:
        return self._tail(Betaincc, x, 1.0)

    def _tail(self, tail: Any, x: Array, below: float) -> Variable:
        """A tail by that of the beta distribution of r and the failures that are not reached."""
        x = F.floor(self._point(x)) + 1
        low, high = x.array <= 0, x.array == float("inf")
        found = tail.call(self.r, where(low | high, 1.0, x), self.p)
        return where(low, below, where(high, 1.0 - below, found))

    def sample_n(self, n: int) -> Variable:
        r, logit = (self.xp.astype(x.array, self.xp.float64) for x in (self.r, self.logit))
        rates = Gamma(r, self.xp.exp(-logit)).sample_n(n).array
        return Poisson(rates).sample_n(1)[0]

    @property
    def _odds(self) -> Variable:
        """Failures per success."""
        return F.exp(-self.logit)

    @property
    def mean(self) -> Variable:
        return self.r * self._odds

    @property
    def mode(self) -> Variable:
        return F.floor(F.relu(self.r - 1) * self._odds)

    @property
    def variance(self) -> Variable:
        return self.r * self._odds / self.p


def _log_mass(x: Variable, r: Variable, log_p: Variable, log_q: Variable) -> Variable:
    ways = F.lgamma(x + r) - F.lgamma(r) - F.lgamma(x + 1)
    return ways + r * log_p + times(x, log_q)
