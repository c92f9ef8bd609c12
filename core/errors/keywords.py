"""Keywords that a constructor does not take, answered before Python refuses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors.exceptions import refuse_unknown

_HAS_VARARGS, _HAS_VARKEYWORDS = 0x04, 0x08  # flags of a code object

UNKNOWN = "unknown_keywords"
"""What a function calls the keywords that it takes only to refuse them."""


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
