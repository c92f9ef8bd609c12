"""Keywords that a constructor does not take, answered before Python refuses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors.exceptions import refuse_unknown

_HAS_VARKEYWORDS = 0x08  # a flag of a code object


class KnownKeywords:
    """Base of classes whose constructors refuse a keyword with what is meant by it.

    It costs nothing where arguments are given by position, and nothing per class: the names are
    those in the code of `__init__`. One that takes any keywords is left alone.

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
    init = getattr(init, "__wrapped__", init)
    code = getattr(init, "__code__", None)
    if code is None or code.co_flags & _HAS_VARKEYWORDS:
        return
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    unknown = [name for name in given if name not in known]
    if unknown:
        refuse_unknown(cls.__name__, unknown, known)
