"""Elementary functions for loops: of additions, products and bits alone, so that these vectorise.

Within three units in the last place; infinite where the exact functions are, zero where those
round to it, and NaN of NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial, inf, log, nan, pi, sqrt
from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiler import ByType, inlined, number

ZERO, HALF, ONE, TWO = number(0.0), number(0.5), number(1.0), number(2.0)
QUARTER = number(0.25)


FLOAT: Any = ByType(np.float32, np.float64)
INTEGER: Any = ByType(np.int32, np.int64)
_MANTISSA: Any = ByType(23, 52)  # bits

# -- powers of e -----------------------------------------------------------------------------------

# Added to a number it rounds that, and has it in the lowest bits of its mantissa.
_ROUNDING = number(1.5 * 2**23, 1.5 * 2**52)
_BIAS = number(127.0, 1023.0)

_LOG2_E = number(1 / log(2))
# The logarithm of 2 in two parts, of which the products of the first with whole numbers are exact.
_LN2_HIGH = number(0.693359375, 0.6931471803691238)
_LN2_LOW = number(-2.1219444005469057e-4, 1.9082149292705877e-10)
# Beyond these the result is 0 and infinite.
_LEAST, _GREATEST = number(-104.0, -746.0), number(89.0, 710.0)
# (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, the highest power first.
_SERIES = number(
    tuple([1 / factorial(k) for k in range(7, 1, -1)]),
    tuple([1 / factorial(k) for k in range(13, 1, -1)]),
)


@inlined
def _power_of_two(n: Any) -> Any:
    """2^n for a whole number between the least and the greatest exponent."""
    bits = FLOAT(n + _BIAS + _ROUNDING).view(INTEGER)
    return INTEGER(bits << _MANTISSA).view(FLOAT)


@inlined
def _whole(x: Any) -> Any:
    """The nearest whole number."""
    return (x + _ROUNDING) - _ROUNDING


@inlined
def _small_expm1(r: Any) -> Any:
    """exp(r) - 1 for |r| <= log(2) / 2."""
    p = ZERO
    for c in _SERIES:
        p = p * r + c
    return p * (r * r) + r


@inlined
def exp(x: Any) -> Any:
    """e^x."""
    x = _LEAST if x < _LEAST else x
    x = _GREATEST if x > _GREATEST else x
    n = _whole(x * _LOG2_E)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    part = _whole(n * HALF)  # 2^n may be no normal number where the result is one
    return (_small_expm1(r) + ONE) * _power_of_two(part) * _power_of_two(n - part)


@inlined
def expm1(x: Any) -> Any:
    """e^x - 1, exact to the last digits about 0 as well; for |x| below 80."""
    n = _whole(x * _LOG2_E)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    power = _power_of_two(n)
    return _small_expm1(r) * power + (power - ONE)


_LN2 = number(log(2))
# Up to the one 2^x is 0, from the other on it is infinite.
_LEAST_EXPONENT, _GREATEST_EXPONENT = number(-151.0, -1076.0), number(128.0, 1024.0)


@inlined
def exp2(x: Any) -> Any:
    """2^x."""
    x = _LEAST_EXPONENT if x < _LEAST_EXPONENT else x
    x = _GREATEST_EXPONENT if x > _GREATEST_EXPONENT else x
    n = _whole(x)
    part = _whole(n * HALF)
    near = _small_expm1((x - n) * _LN2) + ONE
    return near * _power_of_two(part) * _power_of_two(n - part)


_ENDS = number(90.0, 712.0)  # beyond, half of e^x is infinite
_FAR = number(20.0, 40.0)  # from there on 1 is nothing beside e^x, and e^-x nothing beside 1


@inlined
def half_exp(x: Any) -> Any:
    """e^x / 2 for x from 0 on, finite as long as that is."""
    x = _ENDS if x > _ENDS else x
    n = _whole(x * _LOG2_E)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    part = _whole(n * HALF)
    return (_small_expm1(r) + ONE) * _power_of_two(part) * _power_of_two(n - ONE - part)


@inlined
def expm1_anywhere(x: Any) -> Any:
    """e^x - 1 for any x."""
    near = -_FAR if x < -_FAR else x
    near = expm1(_FAR if near > _FAR else near)
    near = x if x == ZERO else near  # with its sign
    return half_exp(x) * TWO - ONE if x > _FAR else near


@inlined
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    size = abs(x)
    e, h = expm1(ONE if size > ONE else size), half_exp(size)
    y = h - QUARTER / h if size > ONE else HALF * (e + e / (e + ONE))
    return y if x > ZERO else x if x == ZERO else -y


@inlined
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    h = half_exp(abs(x))
    return h + QUARTER / h


# -- what is made of them --------------------------------------------------------------------------

_TANH_IS_ONE = number(9.5, 20.0)


@inlined
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    x = -_TANH_IS_ONE if x < -_TANH_IS_ONE else x
    x = _TANH_IS_ONE if x > _TANH_IS_ONE else x
    e = expm1(x + x)
    return e / (e + TWO)


@inlined
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return ONE / (ONE + exp(-x))


# 2 artanh(s) / s = 2 + 2/3 s^2 + 2/5 s^4 + ... for |s| <= 1/3: every other term, the last first.
_EVEN = number(tuple([2 / k for k in range(13, 0, -4)]), tuple([2 / k for k in range(33, 0, -4)]))
_BUT_FIRST = number(tuple([2 / k for k in (13, 9, 5)]), tuple([2 / k for k in range(33, 1, -4)]))
_ODD = number(tuple([2 / k for k in range(15, 0, -4)]), tuple([2 / k for k in range(31, 0, -4)]))


@inlined
def log1p(x: Any) -> Any:
    """log(1 + x) for x from -1/2 to 1."""
    s = x / (x + TWO)
    square = s * s
    fourth = square * square
    p = ZERO
    for c in _BUT_FIRST:
        p = p * fourth + c
    q = ZERO
    for c in _ODD:
        q = q * fourth + c
    return x - s * (x - (p * fourth + q * square))  # as 2 s is x - s x: x is exact


_ROOT: Any = ByType(np.int32(0x3F3504F3), np.int64(0x3FE6A09E667F3BCD))  # bits of sqrt(1/2)
_ROUNDING_BITS: Any = ByType(np.int32(0x4B400000), np.int64(0x4338000000000000))
_LARGEST = number(float(np.finfo("f").max), float(np.finfo("d").max))
_SMALLEST = number(float(np.finfo("f").tiny), float(np.finfo("d").tiny))  # of normal numbers
_RAISED, _RAISING = number(24.0, 54.0), number(2.0**24, 2.0**54)
_NOTHING, _NONE = number(-inf), number(nan)
_LOG2_E_LESS_1 = number(1 / log(2) - 1)
_LOG10_E = number(0.4342944920063019, 0.4342944819032518)
_LOG10_E_REST = number(-1.0103050052231683e-8, 1.098319650216765e-17)
_LOG10_2_HIGH = number(0.30078125, 0.3010299955494702)  # as of the logarithm of 2
_LOG10_2_LOW = number(2.487456639811952e-4, 1.1451100898021838e-10)


@inlined
def _split(u: Any) -> Any:
    """The whole number k and f from sqrt(1/2) to sqrt(2) of u = 2^k f, a positive normal number."""
    bits = FLOAT(u).view(INTEGER)
    k = INTEGER(INTEGER(bits - _ROOT) >> _MANTISSA)
    f = INTEGER(bits - INTEGER(k << _MANTISSA)).view(FLOAT)
    return INTEGER(k + _ROUNDING_BITS).view(FLOAT) - _ROUNDING, f


@inlined
def _at_ends(x: Any, u: Any, y: Any) -> Any:
    """The logarithm y of u, which is x or x + 1; its own where u is not positive and finite."""
    y = x if x > _LARGEST else y
    return y if u > ZERO else _NOTHING if u == ZERO else _NONE


@inlined
def log1p_anywhere(x: Any) -> Any:
    """log(1 + x) for any x; -inf of -1, NaN below."""
    u = ONE + x
    whole, f = _split(u)
    near = log1p(x if whole == ZERO else f - ONE)
    lost = (x - (u - ONE)) / u  # to the rounding of u
    far = whole * _LN2_HIGH + (near + (whole * _LN2_LOW + lost))
    return _at_ends(x, u, near if whole == ZERO else far)


@inlined
def _powers_and_rest(x: Any) -> Any:
    """The whole number k and log(f) of x = 2^k f, a positive number."""
    tiny = x < _SMALLEST
    whole, f = _split(x * _RAISING if tiny else x)
    return whole - _RAISED if tiny else whole, log1p(f - ONE)


@inlined
def log2(x: Any) -> Any:
    """The logarithm to base 2; -inf of 0, NaN below."""
    whole, near = _powers_and_rest(x)
    return _at_ends(x, x, whole + (near + near * _LOG2_E_LESS_1))


@inlined
def log10(x: Any) -> Any:
    """The logarithm to base 10; -inf of 0, NaN below."""
    whole, near = _powers_and_rest(x)
    rest = near * _LOG10_E_REST + whole * _LOG10_2_LOW
    return _at_ends(x, x, whole * _LOG10_2_HIGH + (near * _LOG10_E + rest))


# -- inverse hyperbolic functions ------------------------------------------------------------------

_ROOT_IS_X = number(2.0**25, 2.0**54)  # from there on 1 is nothing beside x


@inlined
def asinh(x: Any) -> Any:
    """The inverse hyperbolic sine."""
    size = abs(x)
    small = _ROOT_IS_X if size > _ROOT_IS_X else size
    square = small * small
    near = log1p_anywhere(size if size > _ROOT_IS_X else size + square / (ONE + sqrt(square + ONE)))
    return signed(near + _LN2 if size > _ROOT_IS_X else near, x)


@inlined
def acosh(x: Any) -> Any:
    """The inverse hyperbolic cosine; NaN below 1."""
    above = x - ONE
    small = _ROOT_IS_X if above > _ROOT_IS_X else above
    y = log1p_anywhere(above if x > _ROOT_IS_X else small + sqrt(small * (small + TWO)))
    y = y + _LN2 if x > _ROOT_IS_X else y
    return y if x >= ONE else _NONE


@inlined
def atanh(x: Any) -> Any:
    """The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond."""
    size = abs(x)
    return signed(HALF * log1p_anywhere(TWO * size / (ONE - size)), x)


# -- angles ----------------------------------------------------------------------------------------

_QUARTER_TURN, _EIGHTH_TURN, _HALF_TURN = number(pi / 2), number(pi / 4), number(pi)
_QUARTER_TURN_REST = number(-4.371139000186241e-8, 6.123233995736766e-17)
_TAN_1, _TAN_3 = number(sqrt(2) - 1), number(sqrt(2) + 1)  # of pi / 8 and 3 pi / 8


# (arctan(r) - r) / r^3 for |r| <= tan(pi / 8) and (arcsin(r) - r) / r^3 for |r| <= 1/2, in r^2.
def _terms(of: Callable[[int], float], single: int, double: int) -> Any:
    """The terms of(1), of(2), ... up to that of a number: the odd and the even, the last first."""
    odd, even = [
        [tuple(map(of, range(n - (n + o) % 2, 0, -2))) for n in (single, double)] for o in (1, 0)
    ]
    return number(*odd), number(*even)


_ARCTAN_ODD, _ARCTAN_EVEN = _terms(lambda k: (-1) ** k / (2 * k + 1), 8, 19)
_ARCSIN_ODD, _ARCSIN_EVEN = _terms(lambda k: comb(2 * k, k) / 4**k / (2 * k + 1), 9, 22)


@inlined
def signed(y: Any, x: Any) -> Any:
    """`y` with the sign of x; x where that is 0."""
    return y if x > ZERO else x if x == ZERO else -y


@inlined
def atan(x: Any) -> Any:
    """The inverse tangent."""
    size = abs(x)
    above = -ONE if size > _TAN_3 else size - ONE if size > _TAN_1 else size
    r = above / (size if size > _TAN_3 else size + ONE if size > _TAN_1 else ONE)
    turned = _QUARTER_TURN if size > _TAN_3 else _EIGHTH_TURN if size > _TAN_1 else ZERO
    square, p, q = r * r, ZERO, ZERO
    fourth = square * square
    for c in _ARCTAN_ODD:
        p = p * fourth + c
    for c in _ARCTAN_EVEN:
        q = q * fourth + c
    return signed(turned + (r + r * (square * p + fourth * q)), x)


@inlined
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), from -pi to pi."""
    across, up = abs(x), abs(y)
    most, least = up if up > across else across, across if up > across else up
    turned = atan(least if most == ZERO else ONE if least == most else least / most)
    turned = _QUARTER_TURN - turned if up > across else turned
    turned = _HALF_TURN - turned if FLOAT(x).view(INTEGER) < 0 else turned
    return -turned if FLOAT(y).view(INTEGER) < 0 else turned


@inlined
def _small_asin(size: Any) -> Any:
    """The inverse sine of |x|; beyond 1/2 half of what it lacks to a quarter turn."""
    square = (ONE - size) * HALF if size > HALF else size * size
    r, p, q = sqrt(square) if size > HALF else size, ZERO, ZERO
    fourth = square * square
    for c in _ARCSIN_ODD:
        p = p * fourth + c
    for c in _ARCSIN_EVEN:
        q = q * fourth + c
    return r + r * (square * p + fourth * q)


@inlined
def asin(x: Any) -> Any:
    """The inverse sine; NaN beyond -1 and 1."""
    size = abs(x)
    y = _small_asin(size)
    return signed((_QUARTER_TURN - TWO * y) + _QUARTER_TURN_REST if size > HALF else y, x)


@inlined
def acos(x: Any) -> Any:
    """The inverse cosine; NaN beyond -1 and 1."""
    size = abs(x)
    y = _small_asin(size)
    far = _HALF_TURN - TWO * y if x < ZERO else TWO * y
    return far if size > HALF else _QUARTER_TURN - signed(y, x)


# A quarter turn in parts, of which products with whole numbers are exact up to TURNED_FAR.
_TURN_1 = number(1.5703125, 1.57079632673412561417)
_TURN_2 = number(4.837512969970703e-4, 6.07710050630396597660e-11)
_TURN_3 = number(7.549533620476723e-8, 2.02226624871116645580e-21)
_TURN_4 = number(2.563344151594519e-12, 8.47842766036889956997e-32)
_TURNS_IN_1 = number(2 / pi)
TURNED_FAR = number(6000.0, 1e6)
"""Angles beyond which `tan` is not exact."""

# (sin(r) - r) / r^3 and (cos(r) - 1) / r^2 for |r| <= pi / 4, in r^2.
_SINE = number(
    tuple([(-1) ** k / factorial(2 * k + 1) for k in range(4, 0, -1)]),
    tuple([(-1) ** k / factorial(2 * k + 1) for k in range(8, 0, -1)]),
)
_COSINE = number(
    tuple([(-1) ** k / factorial(2 * k) for k in range(5, 0, -1)]),
    tuple([(-1) ** k / factorial(2 * k) for k in range(9, 0, -1)]),
)


@inlined
def tan(x: Any) -> Any:
    """The tangent, of angles up to `TURNED_FAR`."""
    n = _whole(x * _TURNS_IN_1)
    far, step, third = x - n * _TURN_1, n * _TURN_2, n * _TURN_3
    near = far - step
    r = near - third
    lost = ((far - near) - step) + ((near - r) - third)
    r = r + (lost - n * _TURN_4)
    square, p, q = r * r, ZERO, ZERO
    for c in _SINE:
        p = p * square + c
    for c in _COSINE:
        q = q * square + c
    sine, cosine = r + r * (square * p), ONE + square * q
    odd = n - TWO * _whole(n * HALF)  # 1, -1 or 0
    y = (sine if odd == ZERO else -cosine) / (cosine if odd == ZERO else sine)
    return x if x == ZERO else y


_SPREAD = number(0.25)
# Phi(-x) exp(x^2 / 2) / t as a polynomial in t = 1 / (1 + x / 4), by interpolation at Chebyshev
# points: within 5e-8 of the values, the highest power first.
_TAIL = number(
    (
        0.0201370329,
        -0.0823398045,
        0.098084741,
        -0.033975494,
        0.0648789399,
        0.0586182717,
        0.0816626947,
        0.0934614767,
        0.0997365814,
        0.099735566,
    )
)


@inlined
def normal_below(x: Any, bell: Any) -> Any:
    """The probability of a normal number below x, `bell` being exp(-x^2 / 2); for float32."""
    t = ONE / (ONE + _SPREAD * abs(x))
    p = ZERO
    for c in _TAIL:
        p = p * t + c
    tail = bell * (p * t)
    return ONE - tail if x > ZERO else tail
