"""The formulas behind the complementary error function and its inverses, in the array standard.

Each takes the namespace first, and arrays of float32 or float64.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, pi, sqrt
from typing import Any

from core.typing import AnyArray


def scaled_tail(xp: Any, x: Any) -> AnyArray:
    """exp(x^2) erfc(x) for x >= 0, to a few units in the last place of float64.

    It is c(z) / (3 + x), with c a Chebyshev series in z = (3 - x) / (3 + x), interpolated at 200
    points with 60 digits.
    """
    z = 6.0 / (3.0 + x) - 1.0
    last, before = xp.zeros_like(x), xp.zeros_like(x)
    for c in reversed(_SERIES[1:]):
        last, before = 2.0 * z * last - before + c, last
    return (z * last - before + _SERIES[0]) / (3.0 + x)


_SERIES = [
    1.413438223980872,
    1.1314768490746974,
    0.35410810034248636,
    0.085087040099085455,
    0.014615273272816639,
    0.0013795571636296328,
    -6.4290667143159456e-5,
    -3.9043421097724047e-5,
    -2.6427850748560541e-6,
    8.2394401439108534e-7,
    1.3247975697671357e-7,
    -1.9195225156726449e-8,
    -5.0305071637453933e-9,
    5.8420064102670072e-10,
    1.8742323910408169e-10,
    -2.4373672656733487e-11,
    -6.9909438396676972e-12,
    1.2573115617675999e-12,
    2.458000580643909e-13,
    -7.005741632378779e-14,
    -6.7327756947496093e-15,
    3.8434305894151518e-15,
    3.3163748896188907e-18,
    -1.9337385406947119e-16,
]


def erfc(xp: Any, x: Any) -> AnyArray:
    """1 - erf(x), with its relative precision kept where it is small."""
    size = xp.minimum(xp.abs(x), xp.full_like(x, 30.0))  # beyond 30, float64 has nothing but 0
    tail = xp.exp(-size * size) * scaled_tail(xp, size)
    return xp.where(x < 0, 2.0 - tail, tail)


def inverse_erfc(xp: Any, erf: Callable[[AnyArray], AnyArray], q: AnyArray) -> AnyArray:
    """The x with erfc(x) = q: infinite at 0 and 2, NaN beyond."""
    return _inverse(xp, erf, 1.0 - q, xp.minimum(q, 2.0 - q))


def inverse_erf(xp: Any, erf: Callable[[AnyArray], AnyArray], y: AnyArray) -> AnyArray:
    """The x with erf(x) = y: infinite at -1 and 1, NaN beyond."""
    return _inverse(xp, erf, y, 1.0 - xp.abs(y))


def _inverse(xp: Any, erf: Callable[[AnyArray], AnyArray], y: AnyArray, q: AnyArray) -> AnyArray:
    """The x with erf(x) = y, given q = 1 - |y| as well, which is the more precise for large x."""
    central = xp.abs(y) < 0.5
    inner = _inner(xp, erf, xp.where(central, y, 0.0))
    outer = _outer(xp, xp.where(central | ~(q > 0), 0.5, q))
    found = xp.where(central, inner, xp.sign(y) * outer)
    infinite = xp.where(y < 0, xp.full_like(y, -inf), inf)
    return xp.where(q > 0, found, xp.where(q == 0, infinite, nan))


def _inner(xp: Any, erf: Callable[[AnyArray], AnyArray], y: AnyArray) -> AnyArray:
    """The first terms of the inverse's power series, then Newton's method on erf(x) - y."""
    square = y * y
    x = y * (1.0 + square * (pi / 12 + square * (7 * pi**2 / 480))) * (sqrt(pi) / 2)
    for _ in range(3):
        x = x - (erf(x) - y) * xp.exp(x * x) * (sqrt(pi) / 2)
    return x


def _outer(xp: Any, q: AnyArray) -> AnyArray:
    """Winitzki's approximation (2008), then Newton's method on log erfc(x) - log q."""
    wanted = xp.log(q)
    known = wanted + xp.log(2.0 - q)
    half = known * 0.5 + 2 / (pi * 0.147)
    x = xp.sqrt(xp.sqrt(half * half - known / 0.147) - half)
    for _ in range(3):
        tail = scaled_tail(xp, x)
        x = x + (xp.log(tail) - x * x - wanted) * tail * (sqrt(pi) / 2)
    return x
