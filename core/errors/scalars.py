"""Scalars: what is a number, and which form it takes.

A number is one of Python's, or a scalar of NumPy's. An array without dimensions is an array; it
serves as a number where a setting is asked for.
"""

from __future__ import annotations

import math
from typing import Any

from core.errors.interval import Interval

# What a Variable is: core.graph.variable, above this room, says it.
Variable: Any = ()

_PYTHON = (bool, int, float, complex)


def is_scalar(value: object) -> bool:
    """Whether `value` is a scalar of NumPy's: like an array without dimensions, but not an array.

    >>> import numpy as np
    >>> is_scalar(np.float32(1)), is_scalar(np.array(1.0)), is_scalar(1.0)
    (True, False, False)
    """
    if not hasattr(type(value), "shape"):  # objects may answer to any name, or raise for it
        return False
    if isinstance(value, Variable) or value.shape != ():  # type: ignore[attr-defined]
        return False
    return hasattr(value, "item") and not hasattr(value, "__dlpack__")


def is_number(value: object) -> bool:
    """Whether `value` is a number of Python's or a scalar of NumPy's.

    >>> import numpy as np
    >>> is_number(1j), is_number(np.float32(1)), is_number(np.array(1.0))
    (True, True, False)
    """
    return isinstance(value, _PYTHON) or is_scalar(value)


def is_whole(value: object) -> bool:
    """Whether `value` is a single whole number, of whatever type.

    >>> is_whole(3), is_whole([3]), is_whole(3.0)
    (True, False, False)
    """
    return hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0


def is_single(value: object) -> bool:
    """Whether `value` is a scalar of NumPy's, or an array without dimensions; no Variable is."""
    return getattr(value, "shape", None) == () and not isinstance(value, Variable)


def python_number(value: Any) -> Any:
    """A scalar, or an array without dimensions, as Python's number, which never widens arrays.

    Anything else is given back.

    >>> import numpy as np
    >>> python_number(np.float64(0.5)), python_number(np.array(2)), python_number("same")
    (0.5, 2, 'same')
    """
    if type(value) in _PYTHON:
        return value
    return value.item() if is_single(value) and hasattr(value, "item") else value


def holds(dtype: str, number: Any) -> bool:
    """Whether a number is the same one in the dtype of this name, up to rounding.

    >>> holds("uint8", 255), holds("uint8", -1), holds("int4", 0.5), holds("bfloat16", 0.1)
    (True, False, False, True)
    """
    sign, _, bits = dtype.partition("int")
    if dtype == "bool":
        sign, bits = "u", "1"
    if sign not in ("", "u") or not bits.isdigit():
        return True
    least, end = (0, 2 ** int(bits)) if sign else (-(2 ** (int(bits) - 1)), 2 ** (int(bits) - 1))
    return bool(least <= number < end and number == int(number))


def as_number(
    owner: str, name: str, value: Any, default: Any = 0.0, within: Interval | None = None
) -> Any:
    """The value, which has to be a number, and not NaN, where `default` is one.

    It has to be `within` the interval, if there is one; where the default is a truth value, it has
    to be one, or 0 or 1. A scalar of NumPy, or an array of no dimensions, becomes Python's, since
    it would widen the arrays that it meets. `owner` is for the message.

    >>> from core.errors.scalars import as_number
    >>> as_number("SGD", "lr", "0.1")
    Traceback (most recent call last):
    TypeError: SGD: expected a number for lr, got '0.1' (str).
    """
    if not isinstance(default, (bool, int, float)):
        return value
    words = "True or False" if isinstance(default, bool) else "a number"
    if isinstance(value, Variable):
        raise TypeError(
            f"{owner}: expected {words} for {name}, got a Variable, which would not be trained. "
            "Give the number itself, float(x.array)."
        )
    single = getattr(value, "shape", ()) == ()
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__") or not single:
        raise TypeError(
            f"{owner}: expected {words} for {name}, got {value!r} ({type(value).__name__})."
        )
    number = float(value)
    if math.isnan(number) or (isinstance(default, bool) and number not in (0, 1)):
        raise ValueError(f"{owner}: expected {words} for {name}, got {value!r}.")
    if within is not None and number not in within:
        raise ValueError(f"{owner}: expected {name} in {within}, got {value!r}.")
    if hasattr(value, "shape"):
        return value.item() if hasattr(value, "item") else number
    return value
