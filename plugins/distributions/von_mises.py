"""The distribution of von Mises: of angles."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, log, pi
from typing import Any

from core import Variable, as_variable
from core import functions as F
from core.typing import Array, Operand
from plugins.distributions.distribution import Distribution, in_double, where
from plugins.distributions.rejection import by_rejection

LARGE = 25.0  # from there on Bessel functions are taken from their series in 1 / x
NORMAL = 1e20  # from there on draws are normal, in double precision
STEPS = 26  # of the half circle, whose sum is that of the integral to all digits below
TERMS = 24


class VonMises(Distribution):
    """Distributions of angles, of density exp(concentration cos(x - loc)) / (2π I0(concentration)).

    The density goes on periodically: angles that differ by 2π are one. Draws lie in [-π, π). `mean`
    is the angle of the mean direction and `variance` 1 less its length, in [0, 1].

    Args:
        loc: Mean angles, in radians.
        concentration: Not negative; at 0 the distribution is uniform, and about normal, of variance
            1 / concentration, where it is large.

    Source of the draws: Best and Fisher 1979, "Efficient simulation of the von Mises distribution".

    >>> import core.distributions as D, numpy as np
    >>> D.VonMises(np.zeros(2), np.array([0.0, 4.0])).prob(np.array([1.0, 0.0]))
    variable([0.15915494, 0.76885732])
    """

    support = "angles"

    def __init__(self, loc: Operand, concentration: Operand) -> None:
        given = self._parameters(loc=loc, concentration=concentration)
        self.loc, self.concentration = given

    def log_prob(self, x: Array) -> Variable:
        half = F.sin(0.5 * (self._point(x) - self.loc))
        return -2 * self.concentration * half * half - log_i0e(self.concentration) - log(2 * pi)

    def sample_n(self, n: int) -> Variable:
        like, xp = self.loc, self.xp
        shape = (n, *self.batch_shape)
        loc, k = (xp.broadcast_to(p.array, shape) for p in (self.loc, self.concentration))
        device = like.device
        random, dtype = like.backend.random, xp.float64

        def uniform(shape: Any) -> Any:
            return random.uniform(shape, dtype, 0.0, 1.0, device=device)

        k = xp.astype(k, dtype)
        fit = (k >= 0) & (k < float("inf"))
        k = xp.where(fit, k, 1.0)
        narrow = xp.sqrt(xp.maximum(k / NORMAL, xp.ones_like(k)))
        k = xp.minimum(k, NORMAL)
        near = k < 1e-5  # where rho is k / 2, and all but uniform
        least = xp.where(near, 1.0, k)
        tau = 1 + xp.sqrt(1 + 4 * least * least)
        rho = xp.where(near, 0.5 * k, (tau - xp.sqrt(2 * tau)) / (2 * least))
        square = 1 + rho * rho
        s = 2 * rho / square  # of the wrapped Cauchy distribution that is drawn from
        gap, less = (1 - rho) ** 2 / square, ((1 - rho * rho) / square) ** 2
        height = xp.where(near, 1.0, least / xp.where(near, 1.0, s)) * less

        def trial(s: Any, gap: Any, height: Any) -> tuple[Any, Any]:
            z = xp.cos(pi * uniform(s.shape))
            c = height / (1 + s * z)
            u = 1 - uniform(s.shape)
            accepted = (c * (2 - c) > u) | (xp.log(c / u) + 1 - c >= 0)
            squared_sine = gap * (1 - z) / (1 + s * z) * 0.5  # of half the angle
            angle = 2 * xp.asin(xp.sqrt(xp.clip(squared_sine, 0.0, 1.0)))
            return xp.where(uniform(s.shape) < 0.5, -angle, angle), accepted

        found = by_rejection(xp, trial, fit, xp.full_like(k, float("nan")), s, gap, height)
        angle = found / narrow + xp.astype(loc, dtype)
        angle = angle - 2 * pi * xp.floor((angle + pi) / (2 * pi))
        return as_variable(xp.astype(angle, like.dtype))

    @property
    def mean(self) -> Variable:
        return self.loc

    @property
    def mode(self) -> Variable:
        return self.loc

    @property
    def variance(self) -> Variable:
        return missing_length(self.concentration)

    @property
    def entropy(self) -> Variable:
        k = self.concentration
        return log(2 * pi) + log_i0e(k) + k * missing_length(k)


def log_i0e(x: Variable) -> Variable:
    """The logarithm of exp(-x) I0(x), for x not negative."""
    return in_double(_log_i0e, x)


def mean_length(x: Variable) -> Variable:
    """I1(x) / I0(x), for x not negative."""
    return in_double(_mean_length, x)


def missing_length(x: Variable) -> Variable:
    """1 - I1(x) / I0(x), also where that is close to 0."""
    return in_double(_missing_length, x)


def _log_i0e(x: Variable) -> Variable:
    large, small, inverse = _parts(x)
    far = F.log(_series(inverse, 0)) + 0.5 * F.log(inverse / (2 * pi))
    return where(large, far, F.log(_integral(small, 0)))


def _mean_length(x: Variable) -> Variable:
    large, small, inverse = _parts(x)
    far = _series(inverse, 1) / _series(inverse, 0)
    return where(large, far, _integral(small, 1) / _integral(small, 0))


def _missing_length(x: Variable) -> Variable:
    large, small, inverse = _parts(x)
    far = _series(inverse, 0, 1) / _series(inverse, 0)
    return where(large, far, 1 - _integral(small, 1) / _integral(small, 0))


def _parts(x: Variable) -> tuple[Any, Variable, Variable]:
    """Which are large, the others, and 1 / x of the large ones."""
    large = x.array >= LARGE
    return large, where(large, 1.0, x), 1 / where(large, x, LARGE)


def _integral(x: Variable, order: int) -> Variable:
    """exp(-x) I_order(x), the order 0 or 1: a mean over the circle.

    Of a periodic function the trapezoidal rule is right to all digits with few steps. It is that of
    exp(x (cos t - 1)), or exp(-x) cos t sinh(x cos t), no term of which is negative.
    """
    angles = [pi * i / STEPS for i in range(STEPS + 1)]
    shares = [(0.5 if i in (0, STEPS) else 1.0) / STEPS for i in range(STEPS + 1)]

    def array(values: Iterable[float]) -> Any:
        return x.backend.asarray([*values], x.dtype, x.device)

    column = F.expand_dims(x, -1)
    if order == 0:
        powers = F.exp(column * array(cos(t) - 1 for t in angles))
        return F.sum(powers * array(shares), axis=-1)
    odd = F.sinh(column * array(map(cos, angles)))
    factors = array(share * cos(t) for share, t in zip(shares, angles, strict=True))
    return F.exp(-x) * F.sum(odd * factors, axis=-1)


def _series(inverse: Variable, *orders: int) -> Variable:
    """sqrt(2 pi x) exp(-x) I_order(x), by its series in 1 / x; of two orders, their difference."""
    found: Any = 0.0
    for of_order in zip(*map(_terms, orders), strict=True):
        found = found * inverse + (of_order[0] - sum(of_order[1:]))
    return found  # type: ignore[no-any-return]


def _terms(order: int) -> list[float]:
    terms = [1.0]
    for k in range(1, TERMS):
        terms.append(terms[-1] * ((2 * k - 1) ** 2 - 4 * order * order) / (8 * k))
    return terms[::-1]
