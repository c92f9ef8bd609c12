"""The multivariate normal distribution."""

from __future__ import annotations

from math import e, log, pi

from core import Variable
from core import functions as F
from core.errors import InvalidType
from core.typing import Array
from plugins.distributions.distribution import Distribution, finite, floating, together, where


class MultivariateNormal(Distribution):
    """Normal distributions of vectors, of covariance L Lᵀ.

    Args:
        loc: (..., d), means.
        scale_tril: (..., d, d), the lower triangular L, of positive diagonal; what stands above it
            is not looked at.

    >>> import core.distributions as D, numpy as np
    >>> D.MultivariateNormal(np.zeros(2, "f"), 2 * np.eye(2, dtype="f")).covariance
    variable([[4., 0.],
              [0., 4.]], dtype=float32)
    """

    def __init__(self, loc: Array, scale_tril: Array) -> None:
        loc, tril = floating(loc, scale_tril)
        d = loc.shape[-1:]
        if tril.shape[-2:] != (*d, *d) or not d:
            raise InvalidType(
                "loc of the shape (..., d) and scale_tril of (..., d, d)",
                f"{loc.shape} and {tril.shape}",
            )
        tril = tril.__array_namespace__().tril(tril)
        self.batch_shape = together(
            "MultivariateNormal",
            **{"loc.shape[:-1]": loc.shape[:-1], "scale_tril.shape[:-2]": tril.shape[:-2]},
        )
        self.event_shape = d
        self.loc = F.broadcast_to(loc, (*self.batch_shape, *d))
        self.scale_tril = F.broadcast_to(tril, (*self.batch_shape, *d, *d))
        self._params = {"loc": self.loc, "scale_tril": self.scale_tril}

    @property
    def log_det(self) -> Variable:
        return F.sum(F.log(F.diagonal(self.scale_tril, 0, -2, -1)), axis=-1)

    def log_prob(self, x: Array) -> Variable:
        x = self._point(self._complete(x))
        inside = self.xp.all(finite(x), axis=-1)
        known = where(self.xp.expand_dims(inside, axis=-1), x, 0.0)
        return where(inside, self._log_density(known), -float("inf"))

    def _log_density(self, x: Variable) -> Variable:
        apart = x - self.loc
        tril = F.broadcast_to(self.scale_tril, (*apart.shape, apart.shape[-1]))
        solve = apart.__array_namespace__().linalg.solve
        z = F.squeeze(solve(tril, F.expand_dims(apart, -1)), axis=-1)
        d = self.event_shape[0]
        return -0.5 * F.sum(z * z, axis=-1) - self.log_det - 0.5 * d * log(2 * pi)

    def sample_n(self, n: int) -> Variable:
        z = self._normal(n, *self.batch_shape, *self.event_shape)
        return self.loc + F.sum(self.scale_tril * F.expand_dims(z, -2), axis=-1)

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        return F.sum(self.scale_tril * self.scale_tril, axis=-1)

    @property
    def covariance(self) -> Variable:
        return F.matmul(self.scale_tril, self.scale_tril, transb=True)

    @property
    def entropy(self) -> Variable:
        return self.log_det + 0.5 * self.event_shape[0] * log(2 * pi * e)
