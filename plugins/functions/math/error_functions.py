"""The formulas behind the error functions and their inverses, in the array standard.

Each takes the namespace first, and arrays of float32 or float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import factorial, inf, nan, pi, sqrt
from typing import Any

from core.typing import AnyArray


def scaled_tail(xp: Any, x: Any, order: int = 0) -> AnyArray:
    """exp(x^2) erfc(x) for x >= 0, or a derivative, to a few units in the last place of float64.

    It is c(z) / (3 + x), with c a Chebyshev series in z = (3 - x) / (3 + x), interpolated at 200
    points with 60 digits. So are derivatives, with series that follow from c and higher powers.
    """
    z = 6.0 / (3.0 + x) - 1.0
    first, *others = _series_of(order)
    last, before = xp.zeros_like(x), xp.zeros_like(x)
    for c in reversed(others):
        last, before = 2.0 * z * last - before + c, last
    return (z * last - before + first) / (3.0 + x) ** (order + 1)


@cache
def _series_of(order: int) -> list[float]:
    """The series of a derivative, from all terms: the last ones grow with each.

    With u = 1 / (3 + x), the derivative of u^n p(z) is -u^(n+1) (n p(z) + (z + 1) p'(z)).
    """
    if order == 0:
        return _SERIES[:ENOUGH]
    p = _SERIES if order == 1 else _series_of(order - 1)
    slope = [0.0] * (len(p) + 1)
    for k in range(len(p) - 1, 0, -1):
        slope[k - 1] = slope[k + 1] + 2 * k * p[k]
    slope[0] /= 2
    found = [-order * c - d for c, d in zip(p, slope, strict=False)]
    for k, d in enumerate(slope[: len(p) - 1]):  # z times the term k is half of each beside it
        found[k + 1] -= d / 2 if k else d
        found[k - 1] -= d / 2 if k else 0.0
    return found


ENOUGH = 24  # terms, for erfcx itself
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
    1.9575527926615459e-17,
    8.0386516602744545e-18,
    -2.0047100385362378e-18,
    -1.911800429042814e-19,
    1.3815358416558661e-19,
    -8.3581992864005182e-21,
    -6.8495672452635267e-21,
    1.5471511010804235e-21,
]


def erfc(xp: Any, x: Any) -> AnyArray:
    """1 - erf(x), with its relative precision kept where it is small."""
    size = xp.abs(x)
    tail = bell(xp, size) * scaled_tail(xp, size)
    return xp.where(x < 0, 2.0 - tail, tail)


def below(xp: Any, x: Any) -> AnyArray:
    """The normal distribution function, with its relative precision kept where it is small."""
    size = xp.abs(x)
    tail = bell(xp, size, 0.5) * scaled_tail(xp, size * sqrt(0.5)) * 0.5
    return xp.where(x < 0, tail, 1.0 - tail)


def bell(xp: Any, size: Any, factor: float = 1.0) -> AnyArray:
    """exp(-factor x^2) for x >= 0 and a power of two, to a few units in the last place.

    The rounding of x^2, an error of x^2 units of the result, is found again from the square of the
    greatest multiple of 1/64 below x, which has no rounding.
    """
    x = xp.minimum(size, xp.full_like(size, 40.0))  # beyond, float64 has nothing but 0
    square, known = x * x, xp.floor(x * 64.0) * 0.015625
    found = xp.exp(square * -factor)
    lost = (known * known - square) + (x - known) * (x + known)
    return found - found * (lost * factor)


def inverse_erfc(xp: Any, q: AnyArray) -> AnyArray:
    """The x with erfc(x) = q: infinite at 0 and 2, NaN beyond."""
    return _inverse(xp, 1.0 - q, xp.minimum(q, 2.0 - q))


def inverse_erf(xp: Any, y: AnyArray) -> AnyArray:
    """The x with erf(x) = y: infinite at -1 and 1, NaN beyond."""
    return _inverse(xp, y, 1.0 - xp.abs(y))


def _inverse(xp: Any, y: AnyArray, q: AnyArray) -> AnyArray:
    """The x with erf(x) = y, given q = 1 - |y| as well, which is the more precise for large x.

    Two polynomials have it to eight digits, which are those of float32; in float64 a step of
    Newton's method doubles them.
    """
    inside = xp.where(q > 0, q, 0.5)
    found = _approximate(xp, y, inside)
    if not str(y.dtype).endswith(("float16", "float32")):  # also of the other order of bytes
        central = xp.abs(y) < 0.5
        size = xp.where(central, 0.5, xp.abs(found))
        beyond = xp.sign(y) * _towards(xp, size, xp.where(central, 0.5, inside))
        inner = xp.where(central, found, 0.0)
        nearer = inner - (erf(xp, inner) - y) * xp.exp(inner * inner) * (sqrt(pi) / 2)
        found = xp.where(central, nearer, beyond)
    infinite = xp.where(y < 0, xp.full_like(y, -inf), inf)
    return xp.where(q > 0, found, xp.where(q == 0, infinite, nan))


def _approximate(xp: Any, y: AnyArray, q: AnyArray) -> AnyArray:
    """The inverse to 1.5e-8 of it, by w = -log(1 - y^2): over y in w, for great w over √w in 1/√w.

    The polynomials were found by least squares at Chebyshev points, weighted anew by the errors
    until these were level; SciPy's inverse is what they were fitted to.
    """
    w = -xp.log(q * (2.0 - q))
    far = w > _FAR
    near = y * _polynomial(_NEAR, (xp.where(far, 0.0, w) - 2.5) * 0.4)
    root = xp.sqrt(xp.where(far, w, _FAR))
    distant = root * _polynomial(_DISTANT, (1.0 / root - _CENTRE) / _SPREAD)
    return xp.where(far, xp.sign(y) * distant, near)


def _towards(xp: Any, x: AnyArray, q: AnyArray) -> AnyArray:
    """A step of Newton's method on log erfc(x) - log q, for x > 0."""
    tail = scaled_tail(xp, x)
    return x + (xp.log(tail) - x * x - xp.log(q)) * tail * (sqrt(pi) / 2)


_FAR = 5.0
_CENTRE, _SPREAD = (1 / 26.7 + 1 / sqrt(5)) / 2, (1 / sqrt(5) - 1 / 26.7) / 2
_NEAR = [
    1.5014093591981,
    0.616600715687797,
    -0.0261086651059781,
    -0.0195740939558062,
    0.00852906540010711,
    -0.00048469495010882,
    -0.000845360405836749,
    0.000284517513835868,
    3.54353123299178e-05,
    -3.35301917655967e-05,
]
_DISTANT = [
    0.961469845579815,
    -0.0408383178002684,
    0.00282056462574809,
    0.00500029452531856,
    -0.00161188407397604,
    0.000347815859068522,
    -0.000199384090658344,
    4.84061056698361e-05,
    -0.000155515517288044,
    -4.76144232155305e-06,
    0.000123461906716126,
    4.76227262442736e-05,
    -6.64664017939916e-05,
]


def erf(xp: Any, x: AnyArray) -> AnyArray:
    """The error function to a few units in the last place.

    In float64 up to 1 by its power series; beyond it as 1 - exp(-x*x) * q(u), with q a polynomial
    fitted at Chebyshev points to exp(x*x) * erfc(x), u being 2 / (2 + x) stretched to [-1, 1].
    Narrower dtypes take one quotient of polynomials for all x, to six units of float32: a third of
    the steps, and none that chooses by element.
    """
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
