"""Which attributes an object may get, so that a misspelt one is refused."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any


def names_attribute(cls: type, name: str, base: type) -> bool:
    """Whether `cls`, or a class between it and `base`, annotates `name` or names it in a method.

    So a class that somebody derives may give its objects attributes of its own, in `__init__` or
    later, and others may set them too.

    >>> class Base:
    ...     pass
    >>> class Own(Base):
    ...     momentum: float
    ...     def __init__(self):
    ...         self.rate = 0.1
    >>> [names_attribute(Own, name, Base) for name in ("rate", "momentum", "rte")]
    [True, True, False]
    """
    derived = [each for each in cls.__mro__ if issubclass(each, base) and each is not base]
    others = [each for each in cls.__mro__ if not issubclass(base, each) and each not in derived]
    return any(
        name in each.__annotations__ or any(name in code.co_names for code in _codes(each))
        for each in (*derived, *others)
    )


def _codes(cls: type) -> Iterator[CodeType]:
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
