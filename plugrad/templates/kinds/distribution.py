"""The distribution `Thing`."""

from core import Variable
from core import functions as F
from core.distributions import Distribution
from core.typing import Array, Operand


class Thing(Distribution):
    """Logistic distributions: cdf(x) = 1 / (1 + exp((loc - x) / scale)).

    Args:
        loc: Means.
        scale: Above 0.
    """

    def __init__(self, loc: Operand, scale: Operand) -> None:
        self.loc, self.scale = self._parameters(loc=loc, scale=scale)

    def log_prob(self, x: Array) -> Variable:
        """The logarithm of the density of points."""
        z = (self._point(x) - self.loc) / self.scale
        return -z - 2 * F.softplus(-z) - F.log(self.scale)

    def cdf(self, x: Array) -> Variable:
        """The probability of a point that is not above `x`."""
        return F.sigmoid((self._point(x) - self.loc) / self.scale)

    def icdf(self, p: Array) -> Variable:
        """The point whose `cdf` is `p`."""
        p = self._point(p)
        return self.loc + self.scale * (F.log(p) - F.log1p(-p))

    def sample_n(self, n: int) -> Variable:
        """Draw `n` points, along a first axis."""
        return self.icdf(self._uniform(n, *self.batch_shape))

    @property
    def mean(self) -> Variable:
        """The mean of each distribution."""
        return self.loc
