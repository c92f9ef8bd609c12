"""The formulas behind the error functions and their inverses, in the array standard.

Each takes the namespace first, and arrays of float32 or float64, `erf` of float16 as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, inf, nan, pi, sqrt
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


def inverse_erfc(xp: Any, q: AnyArray) -> AnyArray:
    """The x with erfc(x) = q: infinite at 0 and 2, NaN beyond."""
    return _inverse(xp, 1.0 - q, xp.minimum(q, 2.0 - q))


def inverse_erf(xp: Any, y: AnyArray) -> AnyArray:
    """The x with erf(x) = y: infinite at -1 and 1, NaN beyond."""
    return _inverse(xp, y, 1.0 - xp.abs(y))


def _inverse(xp: Any, y: AnyArray, q: AnyArray) -> AnyArray:
    """The x with erf(x) = y, given q = 1 - |y| as well, which is the more precise for large x."""
    central = xp.abs(y) < 0.5
    inner = _inner(xp, xp.where(central, y, 0.0))
    outer = _outer(xp, xp.where(central | ~(q > 0), 0.5, q))
    found = xp.where(central, inner, xp.sign(y) * outer)
    infinite = xp.where(y < 0, xp.full_like(y, -inf), inf)
    return xp.where(q > 0, found, xp.where(q == 0, infinite, nan))


def _inner(xp: Any, y: AnyArray) -> AnyArray:
    """The first terms of the inverse's power series, then Newton's method on erf(x) - y."""
    square = y * y
    x = y * (1.0 + square * (pi / 12 + square * (7 * pi**2 / 480))) * (sqrt(pi) / 2)
    for _ in range(3):
        x = x - (erf(xp, x) - y) * xp.exp(x * x) * (sqrt(pi) / 2)
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


def erf(xp: Any, x: AnyArray) -> AnyArray:
    """The error function to a few units in the last place.

    In float64 up to 1 by its power series; beyond it as 1 - exp(-x*x) * q(u), with q a polynomial
    fitted at Chebyshev points to exp(x*x) * erfc(x), u being 2 / (2 + x) stretched to [-1, 1].
    Narrower dtypes take one quotient of polynomials for all x, to six units of float32: a third of
    the steps, and none that chooses by element.
    """
    if str(x.dtype).endswith("float16"):
        return xp.astype(erf(xp, xp.astype(x, xp.float32)), x.dtype)
    if str(x.dtype).endswith("float32"):
        z = xp.clip(x, -3.9, 3.9)  # beyond it the result rounds to 1
        square = z * z
        z *= _polynomial(_NUMERATOR, square)
        z /= _polynomial(_DENOMINATOR, square)
        return xp.clip(z, -1.0, 1.0)
    size = xp.abs(x)
    small = xp.minimum(size, xp.ones_like(x))
    large = xp.minimum(xp.maximum(size, xp.ones_like(x)), xp.full_like(x, 6.0))
    u = (2.0 / (2.0 + large) - _MIDDLE) / _HALF
    beyond = 1.0 - xp.exp(-large * large) * _polynomial(_TAIL, u)
    inside = small * _polynomial(_POWERS, small * small)
    return xp.sign(x) * xp.where(size < 1.0, inside, beyond)


def _polynomial(coefficients: Sequence[float], x: AnyArray) -> AnyArray:
    total = x * coefficients[-1] + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        total *= x
        total += c
    return total


_POWERS = [2.0 / sqrt(pi) * (-1) ** n / (factorial(n) * (2 * n + 1)) for n in range(18)]
# erf(x) / x as a quotient of polynomials in x*x, to a level relative error of 2e-8 up to 3.9: found
# by least squares at Chebyshev points, weighted anew by the errors until they were level.
_NUMERATOR = [
    1.1283791479806438,
    0.18963753335650943,
    0.052664278514211404,
    0.0037371205727416415,
    0.0002850396796877686,
    2.066753859422269e-06,
]
_DENOMINATOR = [
    1.0,
    0.5013946748155269,
    0.11380691605255049,
    0.014911804368009846,
    0.0011570894326276635,
    3.82717781172105e-05,
]
_MIDDLE = (2 / 3 + 1 / 4) / 2  # of 2 / (2 + x) for x from 1 to 6
_HALF = (2 / 3 - 1 / 4) / 2
_TAIL = [
    0.22142954022993197,
    0.16189356804102512,
    0.0385605704251742,
    0.005588816281820741,
    0.00019713917783353174,
    -8.079220400375133e-05,
    -7.340518553424231e-06,
    1.9795604406650692e-06,
    1.6350144466381313e-07,
    -7.004964774808827e-08,
    -5.928759651596784e-10,
    2.6193676811227097e-09,
    -2.6346306565513686e-10,
    -7.076552737202867e-11,
    1.868099750323572e-11,
    -6.030729884059316e-13,
]
