"""Arguments that functions once had: no part of their signatures, and refused with a cure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from core.errors.kinds import Removed, written

F = TypeVar("F", bound=Callable[..., Any])


def removed(
    *had: str, cures: Mapping[str, str] | None = None, renamed: Mapping[str, str] | None = None
) -> Callable[[F], F]:
    """Let a function refuse arguments that it once had, and say what to write instead.

    A keyword that it never had is refused with the nearest one. A function that has nothing but
    required arguments takes those it once `had` by position too, in this order, and leaves other
    keywords to Python.

    Args:
        had: Names of the arguments; those that `cures` and `renamed` name need not be repeated.
        cures: Name -> the sentence that says what to write instead.
        renamed: Removed name -> name of an argument with a default; what is given by the removed
            name alone is accepted silently.

    >>> @removed(cures={"deterministic": "Leave it out."}, renamed={"sz": "size"})
    ... def area(x, size=1):
    ...     return x * size
    >>> area(2, sz=3)
    6
    >>> area(2, deterministic=True)
    Traceback (most recent call last):
    core.errors.RemovedArgument: area: the argument 'deterministic' no longer exists. Leave it out.
    >>> area(2, sise=3)
    Traceback (most recent call last):
    TypeError: area: unexpected keyword argument 'sise'. Did you mean 'size'?
    """
    refused = Removed(had, cures or {}, renamed or {})

    def decorate(function: F) -> F:
        made: Any = wraps(function)(written(function, removed=refused, checks=False))
        made.__removed__ = refused
        return made  # type: ignore[no-any-return]

    return decorate
