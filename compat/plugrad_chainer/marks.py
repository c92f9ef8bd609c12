"""Values for some objects, by identity: Variables neither compare nor take attributes."""

from __future__ import annotations

from typing import Any
from weakref import ref


class Marks:
    """A value for each of some objects, as long as they live.

    >>> marks = Marks()
    >>> one = marks.set(object, "seen")
    >>> marks.get(object), marks.get(int)
    ('seen', None)
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, Any]] = {}

    def set(self, owner: Any, value: Any) -> None:
        """Give an object a value."""
        key = id(owner)
        self._found[key] = (ref(owner, lambda _: self._found.pop(key, None)), value)

    def get(self, owner: Any, default: Any = None) -> Any:
        """The value of an object, or `default`."""
        return self._found.get(id(owner), (None, default))[1]

    def drop(self, owner: Any) -> None:
        """Take the value of an object away."""
        self._found.pop(id(owner), None)
