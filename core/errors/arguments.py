"""The arguments of a function, read from its code.

Every program declares operations when it begins, and loading `inspect` takes a seventh of the time
of `import core`, so it is asked only about what is not a plain function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import inspect

_HAS_VARARGS, _HAS_VARKEYWORDS = 0x04, 0x08  # flags of a code object
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Argument(NamedTuple):
    """One argument: whether a call may leave it out, and whether it takes any number."""

    name: str
    optional: bool = False
    variadic: bool = False


def arguments(function: Callable[..., Any]) -> list[Argument]:
    """The arguments of `function` in the order of its signature.

    >>> [a.name for a in arguments(lambda x, y=0, *rest, axis=0: x)]
    ['x', 'y', 'rest', 'axis']
    >>> [a.name for a in arguments(lambda x, y=0, *rest, axis=0: x) if a.optional]
    ['y', 'axis']
    """
    if type(function) is not FunctionType or function.__dict__:  # wrapped, or told a signature
        return _inspected(function)
    code = function.__code__
    names, last = code.co_varnames, code.co_argcount
    required = last - len(function.__defaults__ or ())
    found = [Argument(name, optional=i >= required) for i, name in enumerate(names[:last])]
    by_name = names[last : last + code.co_kwonlyargcount]
    rest = iter(names[last + len(by_name) :])
    if code.co_flags & _HAS_VARARGS:
        found.append(Argument(next(rest), variadic=True))
    found += [Argument(name, name in (function.__kwdefaults__ or ())) for name in by_name]
    if code.co_flags & _HAS_VARKEYWORDS:
        found.append(Argument(next(rest), variadic=True))
    return found


def _inspected(function: Callable[..., Any]) -> list[Argument]:
    return [
        Argument(p.name, p.default is not p.empty, p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
        for p in signature_of(function).parameters.values()
    ]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature, of which Python 3.14 evaluates the annotations, as far as their names go.

    >>> signature_of(signature_of)
    <Signature (function: 'Callable[..., Any]') -> 'inspect.Signature'>
    """
    import inspect

    try:
        return inspect.signature(function)
    except NameError:
        as_it_is: Any = import_module("annotationlib").Format.FORWARDREF
        options: Any = {"annotation_format": as_it_is}
        return inspect.signature(function, **options)


def annotations_of(owner: Any) -> dict[str, Any]:
    """What a class or a function annotates itself, by name.

    Python 3.14 evaluates it when it is asked for; of what names something that is not there, as
    what is imported for type checkers alone, it then gives a `ForwardRef`.

    >>> annotations_of(annotations_of)
    {'owner': 'Any', 'return': 'dict[str, Any]'}
    """
    try:
        return dict(owner.__annotations__)
    except NameError:
        library: Any = import_module("annotationlib")
        return dict(library.get_annotations(owner, format=library.Format.FORWARDREF))


def refuse_idle(where: str, function: Any) -> None:
    """Raise TypeError for a function of which a call runs nothing yet: one that yields, or an async
    one. What it is to do would be lost in silence.

    >>> def lazy():
    ...     yield
    >>> try:
    ...     refuse_idle("it", lazy)
    ... except TypeError as error:
    ...     print(str(error).partition(";")[2])
     lazy has `yield` in it, and a call only makes a generator. Leave `yield` out.
    """
    found = function.func if isinstance(function, partial) else function
    if not hasattr(found, "__code__"):
        found = getattr(type(found), "__call__", None)  # noqa: B004
    flags = getattr(getattr(found, "__code__", None), "co_flags", 0)
    name = getattr(function, "__name__", type(function).__name__)
    why = ""
    if flags & (_COROUTINE | _ASYNC_GENERATOR):
        why = "is async, and a call only makes what is to be awaited. Leave `async` out"
    elif flags & _GENERATOR:
        why = "has `yield` in it, and a call only makes a generator. Leave `yield` out"
    if why:
        raise TypeError(f"{where}: expected a function that runs when it is called; {name} {why}.")
