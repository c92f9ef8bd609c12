"""The formulas behind the gamma function's logarithm and derivatives, in the array standard.

Each takes the namespace first, and arrays of float64.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_ROUNDING = 1.5 * 2**52  # added to a number it rounds that, and is taken off again
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI[:8], 1)]
_OF_TRIGAMMA = BERNOULLI[:9]
_ASYMPTOTIC = [b / (2 * k) for k, b in enumerate(BERNOULLI[:9], 1)]
_SINE = [(-1) ** k * pi ** (2 * k) / factorial(2 * k + 1) for k in range(12)]  # sin(πx) / (πx)
_COSINE = [(-1) ** k * pi ** (2 * k) / factorial(2 * k) for k in range(13)]  # cos(πx)


def in_double(xp: Any, formula: Any, *inputs: AnyArray, like: AnyArray) -> AnyArray:
    """The formula computed in float64, where sums cancel, rounded to the dtype of `like`."""
    return xp.astype(formula(xp, *[xp.astype(x, xp.float64) for x in inputs]), like.dtype)


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    total = x * coefficients[-1] + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        total = total * x + c
    return total


def lgamma(xp: Any, x: Any) -> AnyArray:
    """The logarithm of |Γ(x)|; infinite at 0, -1, -2, ..., and at infinity either way."""
    mirrored, fraction = _mirrored(xp, x)
    size = xp.abs(fraction)
    y = xp.where(mirrored, 1.0 - x, x)
    small, z, q, _ = _raised(xp, y)
    inverse = 1.0 / z
    total = (z - 0.5) * (xp.log(z) - 1) + (log(2 * pi) - 1) / 2  # infinite where z is
    total = total + inverse * _polynomial(_STIRLING, inverse * inverse)
    # Γ(z) is Γ(y) times y, y + 1, ..., y + 7, and Γ(x) Γ(1 - x) is π / sin(πx).
    product = xp.where(small, q * (q + 6) * (q + 10) * (q + 12), 1.0)
    sine = size * _polynomial(_SINE, size * size)
    total = xp.where(mirrored, -total, total)
    found = total - xp.log(xp.where(mirrored, xp.where(size > 0, sine, 1.0) / product, product))
    return xp.where(mirrored & (size == 0), inf, found)


def _mirrored(xp: Any, x: Any) -> tuple[Any, Any]:
    """Where x is below 1/2, and how far it is from the nearest integer there, else 0."""
    mirrored = x < 0.5
    below = xp.where(mirrored, xp.maximum(x, -(2.0**51)), 0.0)  # those beyond are taken for whole
    return mirrored, below - ((below + _ROUNDING) - _ROUNDING)


def _raised(xp: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Where y >= 1/2 is small, and z, which is y, or y + 8 there, where the series are good.

    With them q = y (y + 7) and the sum of the two: of the numbers between, y + 1 and y + 6, y + 2
    and y + 5, y + 3 and y + 4 have the same sum, and the products q + 6, q + 10 and q + 12.
    """
    small = y < _STEPS
    low = xp.where(small, y, 1.0)
    return small, xp.where(small, y + float(_STEPS), y), low * (low + 7), 2 * low + 7


def digamma(xp: Any, x: Any) -> AnyArray:
    """The derivative of log Γ; NaN at -1, -2, ..., and at 0 infinite with the other sign."""
    mirrored, fraction = _mirrored(xp, x)
    y = xp.where(mirrored, 1.0 - x, x)
    small, z, q, both = _raised(xp, y)
    inverse = 1.0 / z
    square = inverse * inverse
    total = xp.log(z) - 0.5 * inverse - square * _polynomial(_ASYMPTOTIC, square)
    # The sum of the inverses of y, y + 1, ..., y + 7: of their product the derivative, over it.
    product = q * (q + 6) * (q + 10) * (q + 12)
    slope = ((4 * q + 84) * q + 504) * q + 720
    total = total - xp.where(small, both * slope / product, 0.0)
    square = fraction * fraction
    apart = (fraction != 0) | (x == 0)
    sine = xp.where(mirrored & apart, fraction * _polynomial(_SINE, square), 1.0)
    return xp.where(
        mirrored, xp.where(apart, total - _polynomial(_COSINE, square) / sine, nan), total
    )


def trigamma(xp: Any, x: Any) -> AnyArray:
    """The derivative of digamma; infinite at 0, -1, -2, ..."""
    mirrored, fraction = _mirrored(xp, x)
    y = xp.where(mirrored, 1.0 - x, x)
    small, z, q, both = _raised(xp, y)
    inverse = 1.0 / z
    square = inverse * inverse
    total = inverse * (1.0 + 0.5 * inverse + square * _polynomial(_OF_TRIGAMMA, square))
    # Of each pair the sum of inverse squares: (sum^2 - 2 product) / product^2.
    for pair in (q, q + 6, q + 10, q + 12):
        total = total + xp.where(small, (both * both - 2 * pair) / (pair * pair), 0.0)
    sine = fraction * _polynomial(_SINE, fraction * fraction)
    whole = fraction == 0
    below = xp.where(whole, inf, 1.0 / xp.where(whole, 1.0, sine * sine) - total)
    return xp.where(mirrored, below, total)


def zeta(xp: Any, x: Any, q: AnyArray) -> AnyArray:
    """Hurwitz's zeta, sum of (q + k)^-x; infinite where q + k is 0, and at x = 1.

    NaN where x < 1, and where q < 0 unless x is whole. Then (q + k)^-x, summed over whole numbers k
    of both signs, is the same for all q that are whole numbers apart: that below 0 is what lacks.
    """
    _, apart = _mirrored(xp, q)
    below = (q < 0) & (apart != 0)
    infinite = ((x == 1) & (q == q)) | ((x > 1) & (q <= 0) & (apart == 0))
    fit = (x > 1) & ((q > 0) | (below & (xp.floor(x) == x)))
    x, below = xp.where(fit, x, 2.0), below & fit
    between = xp.where(apart > 0, apart, 1.0 + apart)
    total = _by_euler(xp, x, xp.where(below, between, xp.where(fit, q, 1.0)))
    others = _by_euler(xp, x, xp.where(below, xp.where(apart > 0, 1.0 - apart, -apart), 1.0))
    others = others - _by_euler(xp, x, xp.where(below, 1.0 - q, 1.0))
    odd = xp.remainder(xp.where(below, x, 2.0), xp.full_like(x, 2.0)) == 1
    total = xp.where(below, xp.where(odd, total - others, total + others), total)
    return xp.where(fit, total, xp.where(infinite, inf, xp.full_like(total, nan)))


def _by_euler(xp: Any, x: AnyArray, q: AnyArray) -> AnyArray:
    """Zeta of x > 1 and q > 0: a few terms, and of the rest Euler's and Maclaurin's estimate."""
    total = q ** (-x)
    for k in range(1, DIRECT):
        total = total + (q + float(k)) ** (-x)
    end = q + float(DIRECT)
    total = total + end ** (1.0 - x) / (x - 1.0) + end ** (-x) * 0.5
    product = x * end ** (-x - 1.0)
    for k, b in enumerate(BERNOULLI, 1):
        total = total + product * (b / factorial(2 * k))
        product = product * (x + float(2 * k - 1)) * (x + float(2 * k)) / (end * end)
    return total


def polygamma(xp: Any, n: AnyArray, x: AnyArray) -> AnyArray:
    """The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x), for n > 0."""
    order = xp.where(n > 0, n, 1.0)
    sign = 1.0 - 2.0 * xp.remainder(order + 1.0, xp.full_like(order, 2.0))
    factor = sign * xp.round(xp.exp(lgamma(xp, order + 1.0)))
    higher = factor * zeta(xp, order + 1.0, x)
    lowest = digamma(xp, xp.where(n == 0, x, 1.0))
    return xp.where(n > 0, higher, xp.where(n == 0, lowest, nan))
