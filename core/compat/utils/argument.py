"""Keyword arguments that a function takes by `**kwargs`: read, and refused with a cure."""

from __future__ import annotations

from typing import Any

from core.errors import RemovedArgument, nearest


def check_unexpected_kwargs(kwargs: dict[str, Any], **unexpected: str) -> None:
    """Raise `RemovedArgument` for a removed argument in `kwargs`; `unexpected` has the cures.

    >>> check_unexpected_kwargs({"train": True}, train="Use using_config instead.")
    Traceback (most recent call last):
    ...
    core.errors.RemovedArgument: The argument 'train' no longer exists. Use using_config instead.
    """
    for name, cure in unexpected.items():
        if name in kwargs:
            raise RemovedArgument(f"The argument {name!r} no longer exists. {cure}")


def parse_kwargs(
    kwargs: dict[str, Any], *name_and_values: tuple[str, Any], **unexpected: str
) -> tuple[Any, ...]:
    """The values of the named arguments, in order, with their defaults; nothing else may be there.

    >>> parse_kwargs({"pad": 1}, ("stride", 1), ("pad", 0))
    (1, 1)
    """
    check_unexpected_kwargs(kwargs, **unexpected)
    rest = dict(kwargs)
    values = tuple(rest.pop(name, default) for name, default in name_and_values)
    known = [name for name, _ in name_and_values]
    for name in rest:
        raise TypeError(
            f"Expected the keyword arguments {', '.join(known) or '(none)'}, got {name!r}."
            + nearest(name, known)
        )
    return values


def assert_kwargs_empty(kwargs: dict[str, Any]) -> None:
    """Raise TypeError if an argument is left in `kwargs`."""
    parse_kwargs(kwargs)
