"""What a Variable tells of its array; and attributes that few Variables have."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Never

from core.arrays.backend import BACKENDS, Backend, Device
from core.errors import UnknownName

if TYPE_CHECKING:
    from core.typing import DType, Shape


def rare(slot: str, doc: str) -> Any:
    """An attribute kept in a slot that few objects fill: None where it is empty."""

    def get(self: Any) -> Any:
        return getattr(self, slot, None)

    def put(self: Any, value: Any) -> None:
        setattr(self, slot, value)

    return property(get, put, doc=doc)


class Attributes:
    """Where the array lives, and what it is like."""

    __slots__ = ()

    @property
    def is_initialized(self: Any) -> bool:
        """Whether there is an array; a parameter may have none yet."""
        return self._array is not None

    @property
    def backend(self: Any) -> Backend:
        """The backend that the array belongs to."""
        return BACKENDS[type(self.array)]

    @property
    def device(self: Any) -> Device:
        """The device of the array."""
        return self.backend.device_of(self.array)  # type: ignore[no-any-return]

    @property
    def xp(self: Any) -> Any:
        """The namespace of the array's backend."""
        return self.backend.xp

    @property
    def shape(self: Any) -> Shape:
        """Lengths of the axes."""
        return self._lacking("shape") if self._array is None else self._array.shape  # type: ignore[no-any-return]

    @property
    def ndim(self: Any) -> int:
        """Number of axes."""
        return self._lacking("ndim") if self._array is None else self._array.ndim  # type: ignore[no-any-return]

    @property
    def size(self: Any) -> int:
        """Number of elements."""
        return self._lacking("size") if self._array is None else prod(self._array.shape)

    @property
    def dtype(self: Any) -> DType:
        """The dtype of the elements."""
        return self._lacking("dtype") if self._array is None else self._array.dtype

    def _lacking(self: Any, what: str) -> Never:
        cure = "It was made of None, which a function without `return` gives; give it an array."
        if hasattr(self, "initialize"):
            cure = "Give its link an input first, or its shape: Parameter(1.0, ()) is one number."
        who = self.name or "this variable"
        raise UnknownName(f"Variable.{what}: {who} has no array yet. {cure}")
