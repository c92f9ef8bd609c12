"""Elementary functions for loops: of additions, products and bits alone, so that these vectorise.

Within three units in the last place; infinite where the exact functions are, zero where those
round to it, and NaN of NaN.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiler import ByType, inlined, number

ZERO, HALF, ONE, TWO = number(0.0), number(0.5), number(1.0), number(2.0)


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
_ODD = number(tuple([2 / k for k in range(15, 0, -4)]), tuple([2 / k for k in range(31, 0, -4)]))


@inlined
def log1p(x: Any) -> Any:
    """log(1 + x) for x from 0 to 1."""
    s = x / (x + TWO)
    square = s * s
    fourth = square * square
    p = ZERO
    for c in _EVEN:
        p = p * fourth + c
    q = ZERO
    for c in _ODD:
        q = q * fourth + c
    return (p + q * square) * s


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
