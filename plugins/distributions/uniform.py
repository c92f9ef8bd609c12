"""The uniform distribution."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, either, within


class Uniform(Distribution):
    """Uniform distributions over [low, high], or [loc, loc + scale].

    Args:
        loc: Lower ends, with `scale`.
        scale: Lengths, above 0.
        low: Lower ends, with `high`.
        high: Upper ends, above `low`.

    >>> import core.distributions as D, numpy as np
    >>> D.Uniform(low=np.zeros(2, "f"), high=4.0).prob(np.array([1, 5], "f"))
    variable([0.25, 0.  ], dtype=float32)
    """

    support = "[low, high]"

    def __init__(
        self,
        loc: Operand | None = None,
        scale: Operand | None = None,
        low: Operand | None = None,
        high: Operand | None = None,
    ) -> None:
        first, begin = either("Uniform", loc=loc, low=low)
        second, end = either("Uniform", scale=scale, high=high)
        if (first, second) not in (("loc", "scale"), ("low", "high")):
            raise ValueError(
                f"Uniform: expected loc and scale, or low and high, got {first} and {second}."
            )
        self.low, given = self._parameters(**{first: begin, second: end})
        self.loc = self.low
        self.scale = given if second == "scale" else given - self.low
        self.high = given if second == "high" else self.low + given

    def log_prob(self, x: Array) -> Variable:
        x, low, high = F.broadcast(self._point(x), self.low, self.high)
        inside = (x.array >= low.array) & (x.array <= high.array)
        return within(inside, x, 0.0, lambda x: 0 * (x - self.low) - F.log(self.scale))

    def cdf(self, x: Array) -> Variable:
        return F.clip((self._point(x) - self.low) / self.scale, 0.0, 1.0)

    def survival_function(self, x: Array) -> Variable:
        return F.clip((self.high - self._point(x)) / self.scale, 0.0, 1.0)

    def icdf(self, p: Array) -> Variable:
        return self.low + self.scale * self._probability(p)

    def sample_n(self, n: int) -> Variable:
        found: Variable = self.low + self.scale * self._uniform(n, *self.batch_shape)
        return found

    @property
    def mean(self) -> Variable:
        return self.low + 0.5 * self.scale

    @property
    def variance(self) -> Variable:
        return self.scale * self.scale / 12

    @property
    def entropy(self) -> Variable:
        return F.log(self.scale)
