"""Names in a class that its base would look for, but for a slip: nobody else would tell.

A method that is called `foward` or `initialise` is a method as good as any; only nobody calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.errors.codes import codes

_SHORTEST = 5
"""Letters of the names that are looked at: of few letters one is too many."""

_OURS = ("core", "plugins", "backends")


class SlipWarning(UserWarning):
    """A name in a class that is nearly one which its base looks for, and that nothing uses."""


class TellsSlips:
    """Base of classes that others derive from, to define what is looked for by name.

    That is what the base has itself, and the names in its `_looked_for`, which it lacks.

    >>> import core, warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     class Twice(core.Link):
    ...         __module__ = "yours"
    ...         def foward(self, x):
    ...             return 2 * x
    >>> print(said[0].message)
    Twice.foward: nothing looks for this name. Did you mean 'forward'? Else call it something else.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        tell_slips(cls)


def tell_slips(cls: type) -> None:
    """Warn of the names of a new class that are nearly those of its bases, and used by itself not.

    The bases are those that come with plugrad, which are not looked at themselves, nor are names
    that begin with an underscore.
    """
    if _is_ours(cls):
        return
    ours = [vars(base) for base in cls.__mro__ if _is_ours(base)]
    named = {name for own in ours for name in (*own, *own.get("_looked_for", ()))}
    known = sorted(filter(_is_looked_for, named))
    for name, value in _candidates(cls):
        meant = next((each for each in known if is_slip(name, each, not callable(value))), None)
        if meant is not None and meant not in vars(cls) and not _uses(cls, name):
            from core.errors.place import warn  # loaded when there is something to say

            warn(
                f"{cls.__name__}.{name}: nothing looks for this name. Did you mean {meant!r}? "
                "Else call it something else.",
                SlipWarning,
            )


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in _OURS


def _uses(cls: type, name: str) -> bool:
    return any(name in code.co_names for code in codes(cls))


def _candidates(cls: type) -> Iterator[tuple[str, Any]]:
    """What is new in the class, by name; of special ones without what Python puts before them."""
    for name, value in [*vars(cls).items()]:
        plain = name.removeprefix(f"_{cls.__name__.lstrip('_')}") if "__" in name else name
        private = plain[:1] == "_" and not plain.startswith("__")
        new = not private and not any(hasattr(base, name) for base in (*cls.__bases__, int))
        if new:
            yield plain, value


def _is_looked_for(name: str) -> bool:
    return len(name) >= _SHORTEST and (name[:1] != "_" or name in _SPECIAL)


_SPECIAL = ("__call__", "__init__", "__getitem__", "__next__")


def is_slip(name: str, meant: str, at_end: bool = False) -> bool:
    """Whether names differ by a letter too many, too few, or another, or by two exchanged.

    A letter more or fewer makes another word of a method (`forward2`) where it is not `at_end`.

    >>> [is_slip(name, "forward") for name in ("foward", "forwrad", "forvard", "forwards", "for")]
    [True, True, True, False, False]
    """
    if name == meant or abs(len(name) - len(meant)) > 1:
        return False
    longer = name.startswith(meant) or meant.startswith(name)
    if longer and not at_end and not name.startswith("__"):
        return False
    start = 0
    while start < min(len(name), len(meant)) and name[start] == meant[start]:
        start += 1
    one, other = name[start:], meant[start:]
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other or one == other[1:] or one[1:] == other[1:]
