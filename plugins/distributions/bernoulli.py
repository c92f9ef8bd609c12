"""The Bernoulli distribution."""

from __future__ import annotations

from core import Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array, Operand
from plugins.distributions.distribution import (
    Distribution,
    either,
    log_complement,
    log_probability,
    times,
    where,
    within,
)


class Bernoulli(Distribution):
    """Distributions of 1 with probability p, and else 0.

    Args:
        p: Probabilities of 1.
        logit: log(p / (1 - p)), instead.
        binary_check: Whether `log_prob` gives -inf for what is neither 0 nor 1.

    >>> import core.distributions as D, numpy as np
    >>> D.Bernoulli(np.array([0.25, 0.5], "f")).prob(np.array([1, 0]))
    variable([0.25, 0.5 ], dtype=float32)
    """

    support = "{0, 1}"

    @checked
    def __init__(
        self, p: Operand | None = None, logit: Operand | None = None, binary_check: bool = False
    ) -> None:
        name, value = either("Bernoulli", p=p, logit=logit)
        (given,) = self._parameters(**{name: value})
        if name == "p":
            self.log_p, self.log_q = log_probability(given), log_complement(given)
            self.p, self._q = given, 1 - given
            self.logit = self.log_p - self.log_q
        else:
            self.log_p, self.log_q = -F.softplus(-given), -F.softplus(given)
            self.p, self._q = F.exp(self.log_p), F.exp(self.log_q)
            self.logit = given
        self.binary_check = binary_check

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        if self.binary_check:
            return within((x.array == 0) | (x.array == 1), x, 0.0, self._log_mass)
        return self._log_mass(x)

    def _log_mass(self, x: Variable) -> Variable:
        return times(x, self.log_p) + times(1 - x, self.log_q)

    def cdf(self, x: Array) -> Variable:
        return self._steps(x, 0.0, self._q, 1.0)

    def survival_function(self, x: Array) -> Variable:
        return self._steps(x, 1.0, self.p, 0.0)

    def _steps(self, x: Array, below: float, between: Variable, above: float) -> Variable:
        x = self._point(x).array
        found = where(x < 1, where(x < 0, below, between), above)
        return where(x == x, found, float("nan"))

    def sample_n(self, n: int) -> Variable:
        p = self.xp.astype(self.p.array, self.xp.float64)
        drawn = self._chances(n, *self.batch_shape) < p
        return as_variable(self.xp.astype(drawn, self.xp.int32))

    @property
    def mean(self) -> Variable:
        return self.p

    @property
    def mode(self) -> Variable:
        return F.cast(self.p > 0.5, self.p.dtype)

    @property
    def variance(self) -> Variable:
        return self.p * self._q

    @property
    def entropy(self) -> Variable:
        return -times(self.p, self.log_p) - times(self._q, self.log_q)
