"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import (
    Distribution,
    in_double,
    log_probability,
    times,
    where,
    within,
)
from plugins.distributions.incomplete import Gammainc, Gammaincc
from plugins.distributions.rejection import by_rejection

LARGE = 10  # from there on draws are made by rejection, below by counting

GREATEST = 2.0**62  # of the means that draws, which are int64, are made for


class Poisson(Distribution):
    """Distributions of the number of events, of probability lam^x exp(-lam) / x!.

    Args:
        lam: Means, not negative.

    >>> import core.distributions as D, numpy as np
    >>> D.Poisson(np.full(3, 1, "f")).prob(np.array([-1, 0, 2]))
    variable([0.        , 0.36787945, 0.18393971], dtype=float32)
    """

    support = "{0, 1, ...}"

    def __init__(self, lam: Operand) -> None:
        (self.lam,) = self._parameters(lam=lam)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(x)
        whole = (x.array == self.xp.floor(x.array)) & (x.array < float("inf"))
        inside = (x.array >= 0) & whole
        return within(inside, x, 0.0, lambda x: in_double(_log_mass, x, self.lam))

    def cdf(self, x: Array) -> Variable:
        return self._tail(Gammaincc, x, 0.0)

    def survival_function(self, x: Array) -> Variable:
        return self._tail(Gammainc, x, 1.0)

    def _tail(self, tail: Any, x: Array, below: float) -> Variable:
        """A tail by the gamma distribution of the time at which event floor(x) + 1 comes."""
        events = F.floor(self._point(x)) + 1
        inside = ~(events.array <= 0)
        return where(inside, tail.call(where(inside, events, 1.0), self.lam), below)

    def sample_n(self, n: int) -> Variable:
        xp = self.xp
        shape = (n, *self.batch_shape)
        lam = xp.astype(xp.broadcast_to(self.lam.array, shape), xp.float64)
        large = lam >= LARGE
        counted = _counted(xp, self._chances(*shape), xp.where(large, 0.0, lam))
        lam = xp.minimum(lam, GREATEST)
        drawn = by_rejection(
            xp, self._trial, large, counted, lam, xp.log(xp.where(large, lam, 1.0))
        )
        return as_variable(xp.astype(drawn, xp.int64))

    def _trial(self, lam: Any, log_lam: Any) -> tuple[Any, Any]:
        """Draws for large means, by transformed rejection, and which are accepted.

        Source: Hörmann 1993, "The transformed rejection method for generating Poisson random
        variables", algorithm PTRS.
        """
        xp = self.xp
        root = xp.sqrt(lam)
        b = 0.931 + 2.53 * root
        a = -0.059 + 0.02483 * b
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        u, v = (self._chances(*lam.shape) for _ in range(2))
        u = u - 0.5
        us = 0.5 - xp.abs(u)
        k = xp.floor((2 * a / us + b) * u + lam + 0.43)
        safe = xp.where(k >= 0, k, 0.0)
        least = xp.log(v * inverse / (a / (us * us) + b))
        fits = least <= safe * log_lam - lam - F.lgamma(safe + 1).array
        return k, (k >= 0) & fits

    @property
    def mean(self) -> Variable:
        return self.lam

    @property
    def mode(self) -> Variable:
        return F.floor(self.lam)

    @property
    def variance(self) -> Variable:
        return self.lam


def _log_mass(x: Variable, lam: Variable) -> Variable:
    return times(x, log_probability(lam)) - lam - F.lgamma(x + 1)


def _counted(xp: Any, u: Any, lam: Any) -> Any:
    """The least k whose cumulative probability is above u."""
    mass = xp.exp(-lam)
    total, k = mass, xp.zeros_like(lam)
    for i in range(1, 100):
        above = u > total
        if not bool(xp.any(above)):
            break
        k = k + xp.astype(above, k.dtype)
        mass = mass * lam / i
        total = total + mass
    return k
