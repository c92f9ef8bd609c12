"""Checks of inputs for functions made of several operations."""

from __future__ import annotations

from typing import Any

from core.arrays import backend
from core.errors import InvalidType


def refused(name: str, expect: str, actual: str) -> InvalidType:
    """The error that names the function, what it expects and what came.

    >>> print(refused("black_out", "t.ndim == 1", "2 != 1"))
    <BLANKLINE>
    Invalid operation is performed in: black_out (Forward)
    <BLANKLINE>
    Expect: t.ndim == 1
    Actual: 2 != 1
    """
    return InvalidType(expect, actual, operation=name)


def require(name: str, *conditions: tuple[str, Any, Any]) -> None:
    """Raise for the first of the conditions (expect, actual, expected) that does not hold."""
    for expect, actual, expected in conditions:
        if actual != expected:
            raise refused(name, expect, f"{actual} != {expected}")


def dtype_name(x: Any) -> str:
    """The name of the dtype of an array or Variable, which is one for both orders of bytes."""
    return backend.of(x).dtype_name(x.dtype)


def require_integral(name: str, **inputs: Any) -> None:
    """Raise if one of the inputs, arrays or Variables by name, is not of integers."""
    for what, value in inputs.items():
        if backend.of(value).kind(value.dtype) not in "iu":
            raise refused(name, f"{what}.dtype is integral", f"{value.dtype}")
