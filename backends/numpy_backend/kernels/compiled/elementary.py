"""Elementary functions for loops: of additions, products and bits alone, so that these vectorise.

Within three units in the last place; infinite where the exact functions are, zero where those
round to it, and NaN of NaN.
"""

from __future__ import annotations

from math import factorial, inf, log, nan
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
_NOTHING, _NONE = number(-inf), number(nan)


@inlined
def log1p_anywhere(x: Any) -> Any:
    """log(1 + x) for any x; -inf of -1, NaN below."""
    u = ONE + x  # 2^k f, with f from sqrt(1/2) to sqrt(2)
    bits = FLOAT(u).view(INTEGER)
    k = INTEGER(INTEGER(bits - _ROOT) >> _MANTISSA)
    f = INTEGER(bits - INTEGER(k << _MANTISSA)).view(FLOAT)
    whole = INTEGER(k + _ROUNDING_BITS).view(FLOAT) - _ROUNDING
    near = log1p(x if whole == ZERO else f - ONE)
    lost = (x - (u - ONE)) / u  # to the rounding of u
    far = whole * _LN2_HIGH + (near + (whole * _LN2_LOW + lost))
    y = near if whole == ZERO else far
    y = x if x > _LARGEST else y
    return y if u > ZERO else _NOTHING if u == ZERO else _NONE


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
