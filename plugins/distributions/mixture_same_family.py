"""Mixtures of distributions of one kind."""

from __future__ import annotations

from core import Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array
from plugins.distributions.categorical import Categorical
from plugins.distributions.distribution import Distribution, demand_distribution, where


class MixtureSameFamily(Distribution):
    """Mixtures: a component is drawn, and then a point of it.

    Args:
        mixing: Which component, with a batch of the shape of this one, of k classes.
        components: The distributions that are mixed, (..., k) as batch.

    Draws have no gradients: which component they are of is none that could be moved.

    >>> import core.distributions as D, numpy as np
    >>> two = D.Normal(np.array([-1.0, 1.0]), 0.5)
    >>> D.MixtureSameFamily(D.Categorical(np.array([0.5, 0.5])), two).variance
    variable(1.25)
    """

    @checked
    def __init__(self, mixing: Categorical, components: Distribution) -> None:
        if not isinstance(mixing, Categorical):
            came = type(mixing).__name__
            raise TypeError(f"MixtureSameFamily: expected mixing to be a Categorical, got {came}.")
        demand_distribution("MixtureSameFamily", "components", components)
        k = mixing.log_p.shape[-1]
        if components.batch_shape != (*mixing.batch_shape, k):
            raise ValueError(
                "MixtureSameFamily: expected components of the batch shape "
                f"{(*mixing.batch_shape, k)}, one for each class of mixing, got "
                f"{components.batch_shape}."
            )
        self.mixing, self.components = mixing, components
        self.batch_shape, self.event_shape = mixing.batch_shape, components.event_shape
        self.support = components.support
        chosen = {f"mixing_{name}": x for name, x in mixing.params.items()}
        self._params = {**components.params, **chosen}

    @property
    def _is_ours(self) -> bool:
        return super()._is_ours and self.mixing._is_ours and self.components._is_ours

    def _widened(self) -> MixtureSameFamily:
        return type(self)(self.mixing._widened(), self.components._widened())

    def _apart(self, x: Array) -> Variable:
        """A point beside each component."""
        return F.expand_dims(self._point(x), -1 - len(self.event_shape))

    def _mean_of(self, each: Variable, event_ndim: int = 0) -> Variable:
        """The mean over components of what is (..., k), with so many axes of a point behind."""
        p = F.reshape(self.mixing.p, (*self.mixing.p.shape, *[1] * event_ndim))
        return F.sum(p * where(p.array != 0, each, 0.0), axis=-1 - event_ndim)

    def log_prob(self, x: Array) -> Variable:
        return F.logsumexp(self.components.log_prob(self._apart(x)) + self.mixing.log_p, axis=-1)

    def cdf(self, x: Array) -> Variable:
        return self._mean_of(self.components.cdf(self._apart(x)))

    def survival_function(self, x: Array) -> Variable:
        return self._mean_of(self.components.survival_function(self._apart(x)))

    def sample_n(self, n: int) -> Variable:
        xp, axis = self.xp, -1 - len(self.event_shape)
        drawn = self.components.sample_n(n).array
        index = self.mixing.sample_n(n).array
        index = xp.reshape(index, (*index.shape, 1, *[1] * len(self.event_shape)))
        index = xp.broadcast_to(index, (*drawn.shape[:axis], 1, *self.event_shape))
        return as_variable(xp.squeeze(xp.take_along_axis(drawn, index, axis=axis), axis=axis))

    @property
    def mean(self) -> Variable:
        return self._mean_of(self.components.mean, len(self.event_shape))

    @property
    def variance(self) -> Variable:
        ndim = len(self.event_shape)
        means = self.components.mean
        apart = means - F.expand_dims(self._mean_of(means, ndim), -1 - ndim)
        return self._mean_of(self.components.variance + apart * apart, ndim)
