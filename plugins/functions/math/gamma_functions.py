"""The formulas behind the gamma function's logarithm and derivatives, in the array standard.

Each takes the namespace first, and arrays of float64.
"""

from __future__ import annotations

from math import factorial, inf, log, nan, pi
from typing import Any

from core.typing import AnyArray

BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
    -236364091 / 2730,
)
"""The Bernoulli numbers B_2, B_4, ..."""

DIRECT = 10
"""How many terms of zeta's sum are added one by one, before the rest is estimated."""

_STEPS = 8  # the asymptotic series are good from there on


def in_double(xp: Any, formula: Any, *inputs: AnyArray, like: AnyArray) -> AnyArray:
    """The formula computed in float64, where sums cancel, rounded to the dtype of `like`."""
    return xp.astype(formula(xp, *[xp.astype(x, xp.float64) for x in inputs]), like.dtype)


def lgamma(xp: Any, x: Any) -> AnyArray:
    """The logarithm of |Γ(x)|; infinite at 0, -1, -2, ..."""
    mirrored = x < 0.5
    below = xp.where(mirrored, x, 0.25)
    fraction = xp.abs(below - xp.round(below))  # |sin(πx)| depends on it alone, and is precise so
    pole = fraction == 0
    above = _lgamma_above(xp, xp.where(mirrored, 1.0 - x, x))
    sine = xp.sin(pi * xp.where(pole, 0.5, fraction))
    return xp.where(pole, inf, xp.where(mirrored, log(pi) - xp.log(sine) - above, above))


def _lgamma_above(xp: Any, x: Any) -> AnyArray:
    """Stirling's series for x >= 1/2, at x + 8 where x is small."""
    small = x < _STEPS
    product = xp.ones_like(x)
    for i in range(_STEPS):
        product = product * xp.where(small, x + float(i), 1.0)
    z = xp.where(small, x + float(_STEPS), x)
    total = (z - 0.5) * (xp.log(z) - 1) + (log(2 * pi) - 1) / 2  # infinite where z is
    for k, b in enumerate(BERNOULLI[:9], 1):
        total = total + b / (2 * k * (2 * k - 1)) / z ** float(2 * k - 1)
    return total - xp.log(product)


def digamma(xp: Any, x: Any) -> AnyArray:
    """The derivative of log Γ; NaN at 0, -1, -2, ..."""
    fraction = x - xp.round(x)
    pole = (fraction == 0) & (x <= 0)
    mirrored = x < 0.5
    above = _digamma_above(xp, xp.where(mirrored, 1.0 - x, x))
    tangent = xp.tan(pi * xp.where(mirrored & ~pole, fraction, 0.25))
    return xp.where(pole, nan, xp.where(mirrored, above - pi / tangent, above))


def _digamma_above(xp: Any, x: Any) -> AnyArray:
    """The asymptotic series for x >= 1/2, at x + 8 where x is small."""
    small = x < _STEPS
    total = xp.zeros_like(x)
    for i in range(_STEPS):
        total = total - xp.where(small, 1.0 / (x + float(i)), 0.0)
    z = xp.where(small, x + float(_STEPS), x)
    total = total + xp.log(z) - 0.5 / z
    for k, b in enumerate(BERNOULLI[:10], 1):
        total = total - b / (2 * k) / z ** float(2 * k)
    return total


def zeta(xp: Any, x: Any, q: AnyArray) -> AnyArray:
    """Hurwitz's zeta, sum of (q + k)^-x, by Euler and Maclaurin; NaN unless x > 1 and q > 0."""
    fit = (x > 1) & (q > 0)
    x, q = xp.where(fit, x, 2.0), xp.where(fit, q, 1.0)
    total = q ** (-x)
    for k in range(1, DIRECT):
        total = total + (q + float(k)) ** (-x)
    end = q + float(DIRECT)
    total = total + end ** (1.0 - x) / (x - 1.0) + end ** (-x) * 0.5
    product = x * end ** (-x - 1.0)
    for k, b in enumerate(BERNOULLI, 1):
        total = total + product * (b / factorial(2 * k))
        product = product * (x + float(2 * k - 1)) * (x + float(2 * k)) / (end * end)
    return xp.where(fit, total, nan)


def polygamma(xp: Any, n: AnyArray, x: AnyArray) -> AnyArray:
    """The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x), for n > 0."""
    order = xp.where(n > 0, n, 1.0)
    sign = 1.0 - 2.0 * xp.remainder(order + 1.0, xp.full_like(order, 2.0))
    factor = sign * xp.round(xp.exp(lgamma(xp, order + 1.0)))
    higher = factor * zeta(xp, order + 1.0, x)
    return xp.where(n > 0, higher, xp.where(n == 0, digamma(xp, x), nan))
