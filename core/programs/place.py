"""Arrays that a program reads from links and optimizers, and writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from core.arrays.backend import Backend
from core.programs.equation import Value


class Place(NamedTuple):
    """An array that a program reads from a link, or from an optimizer, by a name such as `/l1/W`.

    `changed` is called when the program has written into the array. `put` is for arrays that cannot
    be written into: it takes another one for this place.
    """

    name: str
    read: Callable[[], Any]
    value: Value
    changed: Callable[[], None]
    put: Callable[[Any], None] | None = None

    def write(self, backend: Backend, array: Any, new: Any) -> None:
        """Write new elements into the array of this place, or put another array there."""
        made = backend.copyto(array, new)
        if not backend.mutable and self.put is not None:
            self.put(made)
        self.changed()
