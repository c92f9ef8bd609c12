"""Axes of a batch as axes of a point."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array
from plugins.distributions.distribution import Distribution, demand_distribution, summed


class Independent(Distribution):
    """The joint distributions of several independent ones, which become elements of one point.

    Args:
        distribution: The distributions, (..., *joined) as batch.
        reinterpreted_batch_ndims: How many of the last axes of the batch are joined; all but the
            first by default.

    >>> import core.distributions as D, numpy as np
    >>> joint = D.Independent(D.Normal(np.zeros((2, 3), "f"), 1.0))
    >>> joint.batch_shape, joint.event_shape, joint.log_prob(np.zeros((2, 3), "f")).shape
    ((2,), (3,), (2,))
    """

    @checked
    def __init__(
        self, distribution: Distribution, reinterpreted_batch_ndims: int | None = None
    ) -> None:
        demand_distribution("Independent", "distribution", distribution)
        batch = distribution.batch_shape
        n = reinterpreted_batch_ndims
        n = max(0, len(batch) - 1) if n is None else n
        if not 0 <= n <= len(batch):
            raise ValueError(
                f"Independent: expected reinterpreted_batch_ndims of 0 to {len(batch)}, got {n}."
            )
        self.distribution = distribution
        self.reinterpreted_batch_ndims = n
        self.batch_shape = batch[: len(batch) - n]
        self.event_shape = (*batch[len(batch) - n :], *distribution.event_shape)
        self.support = distribution.support
        self._params = distribution.params

    @property
    def _is_ours(self) -> bool:
        return super()._is_ours and self.distribution._is_ours

    def _widened(self) -> Independent:
        return type(self)(self.distribution._widened(), self.reinterpreted_batch_ndims)

    def log_prob(self, x: Array) -> Variable:
        return summed(self.distribution.log_prob(self._complete(x)), self.reinterpreted_batch_ndims)

    def sample_n(self, n: int) -> Variable:
        return self.distribution.sample_n(n)

    @property
    def mean(self) -> Variable:
        return self.distribution.mean

    @property
    def mode(self) -> Variable:
        return self.distribution.mode

    @property
    def variance(self) -> Variable:
        return self.distribution.variance

    @property
    def covariance(self) -> Variable:
        if self.distribution.event_shape or self.reinterpreted_batch_ndims != 1:
            raise self._unknown("covariance")
        variance = self.distribution.variance
        eye = self.xp.eye(self.event_shape[0], dtype=variance.dtype)
        found: Variable = F.expand_dims(variance, -1) * eye
        return found

    @property
    def entropy(self) -> Variable:
        return summed(self.distribution.entropy, self.reinterpreted_batch_ndims)
