"""Student's distribution: its tails, their inverse, and draws.

Derivatives in a point are densities; those in the degrees of freedom are summed, and have none of
their own.
"""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

from core import Domain, Elementwise, FunctionNode, real
from core.functions import Digamma, LGamma, Ndtr, Ndtri
from core.typing import AnyArray
from plugins.distributions.gamma_draws import log_standard_gamma
from plugins.distributions.incomplete import SUMMED, Slope, computed_in_double, over
from plugins.distributions.incomplete_formulas import (
    beta_log_odds,
    beta_slope,
    beta_tails,
    log_beta_density,
)

GREAT = 1e6  # degrees of freedom from which on it is the normal distribution and a correction
_NEAR, _FAR = 1e-100, 1e100  # sizes of points within which their squares are numbers
_POWER = 1e10  # from there on a tail is a power of the point, in double precision


def _halves(xp: Any, df: Any, t: Any) -> tuple[Any, ...]:
    """Where df are few, the parameters of the beta distribution of df / (df + t²), and point."""
    few = (df > 0) & (df <= GREAT)
    half = xp.where(few, df, 1.0) * 0.5
    size = xp.clip(xp.where(t == t, xp.abs(t), 1.0), _NEAR, _FAR)
    odds = size * size / (2.0 * half)
    return few, half, xp.full_like(half, 0.5), 1.0 / (1.0 + odds), odds / (1.0 + odds)


def _far(xp: Any, df: Any, t: Any, a: Any) -> tuple[Any, Any, Any]:
    """Where t is far out; the tail beyond it there, and the derivative of its logarithm in df.

    It is the first term of the series of the incomplete beta function, by its logarithm.
    """
    size = xp.abs(t) / xp.sqrt(2.0 * a)
    far = (size > _POWER) & (size < float("inf"))
    log_x = -2.0 * xp.log(xp.where(far, size, _POWER))
    gammas = LGamma().evaluate(a + 0.5) - LGamma().evaluate(a) - LGamma().evaluate(0.0 * a + 0.5)
    tail = 0.5 * xp.exp(a * log_x - xp.log(a) + gammas)
    rate = log_x - 1.0 / a + Digamma().evaluate(a + 0.5) - Digamma().evaluate(a) + 1.0
    return far, tail, 0.5 * rate


def _like_normal(df: Any, t: Any) -> AnyArray:
    """The normal number of the same tail as t, of many degrees of freedom.

    Source: Abramowitz and Stegun 1964, equation 26.7.8.
    """
    return t * (1.0 - 0.25 / df) / (1.0 + t * t / (2.0 * df)) ** 0.5


def _tail(xp: Any, df: Any, t: Any) -> AnyArray:
    """The probability above t."""
    few, a, b, x, y = _halves(xp, df, t)
    far, power, _ = _far(xp, df, t, a)
    tail = xp.where(far, power, 0.5 * beta_tails(xp, a, b, x, y)[0])
    many = xp.where(few, GREAT, df)
    normal = Ndtr().evaluate(-_like_normal(many, xp.clip(xp.abs(t), 0.0, _FAR)))
    tail = xp.where(xp.abs(t) < float("inf"), xp.where(few, tail, normal), 0.0)
    known = (df > 0) & (t == t)
    return xp.where(known, xp.where(t > 0, tail, 1.0 - tail), float("nan"))


def _slope(xp: Any, df: Any, t: Any) -> AnyArray:
    """The derivative of the probability above t in df."""
    few, a, b, x, y = _halves(xp, df, t)
    moved = xp.exp(log_beta_density(xp, a, b, x, y)) / (2.0 * a)
    far, power, rate = _far(xp, df, t, a)
    near = 0.5 * (0.5 * beta_slope(xp, a, b, x, y) + moved)
    slope = xp.sign(t) * xp.where(far, power * rate, near)
    many = xp.where(few, GREAT, df)
    near = xp.clip(t, -40.0, 40.0)
    bell = xp.exp(-0.5 * near * near) / sqrt(2 * pi)
    return xp.where(few, slope, -bell * (near**3.0 + near) / (4.0 * many * many))


def _point(xp: Any, df: Any, p: Any) -> AnyArray:
    """The point with the probability p below it."""
    few, a, b, _, _ = _halves(xp, df, p)
    inside = (p > 0) & (p < 1) & (p != 0.5)
    lower = xp.where(inside, xp.minimum(p, 1.0 - p), 0.25)
    t = xp.sqrt(2.0 * a) * xp.exp(-0.5 * beta_log_odds(xp, a, b, 2.0 * lower))
    many = xp.where(few, GREAT, df)
    z = -Ndtri().evaluate(lower)  # and the first terms of Cornish and Fisher's expansion
    square = z * z
    second = z * (3.0 + square * (16.0 + 5.0 * square)) / (96.0 * many * many)
    t = xp.where(few, t, z + z * (1.0 + square) / (4.0 * many) + second)
    t = xp.where(inside, t, float("inf"))
    t = xp.where(p == 0.5, 0.0, t)
    known = (df > 0) & (p >= 0) & (p <= 1)
    return xp.where(known, xp.where(p < 0.5, -t, t), float("nan"))


def log_norm(xp: Any, df: Any) -> Any:
    """Log (√df B(df / 2, 1 / 2)), of what is float64."""
    k = 0.5 * df
    great = k > 100.0  # where the logarithms of gamma functions cancel, and a series ends soon
    few, inverse = xp.where(great, 1.0, k), 1.0 / xp.where(great, k, 1.0)
    direct = LGamma().evaluate(few) - LGamma().evaluate(few + 0.5) + 0.5 * xp.log(2 * pi * few)
    square = inverse * inverse
    series = inverse * (1 / 8 - square * (1 / 192 - square / 640)) + 0.5 * log(2 * pi)
    return xp.where(great, series, direct)


def _density(xp: Any, df: Any, t: Any) -> AnyArray:
    """The density at t, computed in float64: the logarithms of great df are great, and cancel."""
    df, dtype = xp.astype(df, xp.float64), t.dtype
    size = xp.abs(xp.astype(t, xp.float64)) / xp.sqrt(df)
    far = size > 1.0  # whose square may be beyond what numbers hold
    near = xp.where(far, 1.0 / xp.where(far, size, 1.0), size)
    power = (df + 1.0) * (0.5 * xp.log1p(near * near) + xp.log(xp.where(far, size, 1.0)))
    return xp.astype(xp.exp(-power - log_norm(xp, df)), dtype)


class StudentSlope(Slope):
    """The derivative of StudentTail in `df`."""

    def compute(self, xp: Any, df: Any, t: Any) -> Any:
        return computed_in_double(_slope, xp, df, t)


def student_rate(xp: Any, df: Any, t: Any) -> Any:
    """dt/d df at a fixed probability above t."""
    return over(xp, StudentSlope().evaluate(df, t), _density(xp, df, t))


class StudentTail(Elementwise):
    """The probability above t, of `df` degrees of freedom."""

    wide = True
    domain = Domain(df=real(0.5, 9), t=real(-3, 3), leave_out=SUMMED)

    def compute(self, xp: Any, df: Any, t: Any) -> Any:
        return computed_in_double(_tail, xp, df, t)

    def gradient_df(self, xp: Any, g: Any, df: Any, t: Any) -> Any:
        return g * StudentSlope().evaluate(df, t)

    def gradient_t(self, xp: Any, g: Any, df: Any, t: Any) -> Any:
        return -g * _density(xp, df, t)


class StudentPoint(Elementwise):
    """The point with the probability p below it; NaN unless 0 <= p <= 1."""

    wide = True
    domain = Domain(df=real(0.5, 9), p=real(0.1, 0.9), leave_out=SUMMED)

    def compute(self, xp: Any, df: Any, p: Any) -> Any:
        return computed_in_double(_point, xp, df, p)

    def gradient_df(self, xp: Any, g: Any, df: Any, out: Any) -> Any:
        return g * student_rate(xp, df, out)

    def gradient_p(self, xp: Any, g: Any, df: Any, out: Any) -> Any:
        return over(xp, g, _density(xp, df, out))


class StandardStudent(FunctionNode):
    """A draw of `df` degrees of freedom, for each element: a normal number over a gamma one's root.

    Its derivative is that of a draw at a fixed cumulative probability.
    """

    domain = Domain(
        "(...)->(...)",
        df=real(0.5, 5),
        leave_out={
            "forward": "random",
            "double_gradient": "not differentiable",
            "traced": "depends on values",
        },
    )

    def compute(self, xp: Any, df: Any) -> Any:
        random, device = self.backend.random, self.backend.device_of(df)
        normal = random.normal(df.shape, df.dtype, device=device)
        log_gamma = log_standard_gamma(random, xp, 0.5 * df, device)
        log_mean = xp.astype(xp.log(0.5 * df), log_gamma.dtype)
        return normal * xp.astype(xp.exp(0.5 * (log_mean - log_gamma)), df.dtype)

    def gradient_df(self, xp: Any, g: Any, df: Any, out: Any) -> Any:
        return g * student_rate(xp, df, out)
