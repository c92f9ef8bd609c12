"""Keywords that a constructor or a method does not take, answered before Python refuses them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors.kinds import UNKNOWN, written
from core.errors.suggestions import refuse_unknown

_HAS_VARARGS, _HAS_VARKEYWORDS = 0x04, 0x08  # flags of a code object

_LOCKED = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether threads take turns by the interpreter's global lock."""

_waiting: list[Callable[[], None]] | None = []
"""What completes functions that are made before they can be: while `core` is being imported."""

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])


class KnownKeywords:
    """Base of classes whose constructors refuse a keyword with what is meant by it.

    The names are those in the code of `__init__`, and looked at only
    where keywords are given. One that takes any is left alone.

    >>> class Line(KnownKeywords):
    ...     def __init__(self, in_size, out_size):
    ...         self.sizes = in_size, out_size
    >>> Line(3, out_size=2).sizes
    (3, 2)
    >>> Line(in_features=3, out_features=2)
    Traceback (most recent call last):
    TypeError: Line: unexpected keyword argument 'in_features'. Did you mean 'in_size'?
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # it would hide what __init__ takes

        def __new__(cls, *args: Any, **given: Any) -> Any:
            """A new object, if `__init__` takes the keywords."""
            if given:
                _check(cls, given)
            make = super().__new__
            return make(cls) if make is object.__new__ else make(cls, *args, **given)


def _check(cls: type, given: dict[str, Any]) -> None:
    init: Any = cls.__init__  # type: ignore[misc]
    known, removed = _taken_by(init), getattr(init, "__removed__", None)
    renamed = removed.renamed if removed else ()
    unknown = [name for name in given if name not in known and name not in renamed]
    if known and unknown:
        refuse_unknown(cls.__name__, unknown, known[1:])


def _taken_by(init: Any) -> tuple[str, ...]:
    """The names of the arguments, or () where they cannot be told; wrappers tell by a signature."""
    if "__signature__" in getattr(init, "__dict__", ()):
        return tuple(init.__signature__.parameters)
    code = getattr(init, "__code__", None)
    if code is None:
        return ()
    count = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & _HAS_VARKEYWORDS:
        rest = count + bool(code.co_flags & _HAS_VARARGS)
        if code.co_varnames[rest] != UNKNOWN:
            return ()
    return tuple(code.co_varnames[:count])


def answering(*but: str, checks: bool = True) -> Callable[[_Class], _Class]:
    """Let the public methods of a class refuse what they do not take, and say what is meant.

    Methods that take any number of arguments are left alone. Every call gets slower, by a tenth of
    a microsecond.

    Args:
        but: Names of methods that are left as they are, since every step of a training calls them.
        checks: Whether arguments have to be of the kinds that their annotations say. Methods that
            only hand them on leave that to the function; those of them without a default are left
            alone.

    >>> @answering()
    ... class Line:
    ...     def split(self, parts: int = 2):
    ...         return ["-"] * parts
    >>> Line().split(3)
    ['-', '-', '-']
    >>> Line().split(part=3)
    Traceback (most recent call last):
    TypeError: Line.split: unexpected keyword argument 'part'. Did you mean 'parts'?
    """

    def decorate(cls: _Class) -> _Class:
        for name, method in list(vars(cls).items()):
            if type(method) is FunctionType and name[0] != "_" and name not in but:
                anything = method.__code__.co_flags & (_HAS_VARARGS | _HAS_VARKEYWORDS)
                if not anything and (checks or method.__defaults__ or method.__kwdefaults__):
                    setattr(cls, name, checked_when_called(method, checks))
        return cls

    return decorate


def checked_when_called(function: _Function, checks: bool = True) -> _Function:
    """What `checked` makes of the function, made when it is first called, since that takes time.

    Where threads have no common lock it is made before anybody can call it: a call reads the code
    of its function twice, and may find another one the second time.

    >>> @checked_when_called
    ... def halve(x, times: int = 1):
    ...     return x / 2**times
    >>> halve(8, time=1)
    Traceback (most recent call last):
    TypeError: halve: unexpected keyword argument 'time'. Did you mean 'times'?
    """
    plain: Any = function

    def complete() -> None:
        full = written(plain, checks=checks)
        scope.update(full.__globals__, made=made)
        made.__defaults__, made.__kwdefaults__ = full.__defaults__, full.__kwdefaults__
        made.__code__ = full.__code__  # last: a call in another thread finds what it needs

    scope: dict[str, Any] = {"complete": complete}
    made: Any = FunctionType(_first_call.__code__, scope)
    scope["made"] = made
    wraps(plain)(made)
    if not _LOCKED and _waiting is not None:
        _waiting.append(complete)
    elif not _LOCKED:
        complete()
    return made  # type: ignore[no-any-return]


def complete_early() -> None:
    """Complete what has been waiting, and from now on what comes at once."""
    global _waiting
    waiting, _waiting = _waiting, None
    for complete in waiting or ():
        complete()


def _first_call(*given: Any, **named: Any) -> Any:
    complete()  # type: ignore[name-defined]  # noqa: F821 - both are in its scope
    return made(*given, **named)  # type: ignore[name-defined]  # noqa: F821
