"""The code of a class: what its methods name."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any


def codes(cls: type) -> Iterator[CodeType]:
    """The code of what a class defines, and of what is defined in that."""
    for value in vars(cls).values():
        for function in (value, getattr(value, "fget", None), getattr(value, "fset", None)):
            code = getattr(_unwrapped(function), "__code__", None)
            if code is not None:
                yield from _nested(code)


def _unwrapped(function: Any) -> Any:
    """What decorators have wrapped."""
    while hasattr(function, "__wrapped__") or hasattr(function, "__func__"):
        function = getattr(function, "__wrapped__", None) or function.__func__
    return function


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
