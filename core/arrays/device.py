"""Where arrays live: a backend and the number of one of its devices."""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from core.arrays.array_backend import Backend


class _Open(NamedTuple):
    """One open `with device:` block, and the one around it."""

    device: Device
    native: AbstractContextManager[Any]
    around: _Open | None


_innermost: ContextVar[_Open | None] = ContextVar("plugrad_device", default=None)
_shared: list[Device | None] = [None]


def default_device() -> Device | None:
    """The device of the innermost open block, else the one that `core.use` named, else None."""
    block = _innermost.get()
    if block is not None:
        return block.device
    return _shared[0]


def share_default(device: Device | None) -> None:
    """Make `device` the default of every thread that has no block open; None takes it back."""
    _shared[0] = device


class Device:
    """One device of one backend; equal to another of the same backend and id.

    `id` is None for a backend that has a single place for its arrays, as NumPy. A device is
    written `numpy` or `cuda:1`, and `with device:` makes it the default for new arrays.
    """

    __slots__ = ("backend", "id")

    def __init__(self, backend: Backend, id: int | None = None) -> None:
        self.backend = backend
        self.id = id

    @property
    def name(self) -> str:
        """How the device is written: `numpy`, `cuda:1`."""
        return str(self)

    def is_array_supported(self, array: Any) -> bool:
        """Whether it is an array that lives on this device."""
        return isinstance(array, self.backend.array_type) and self.backend.device_of(array) == self

    def send(self, array: Any) -> Any:
        """The array (of any backend, or a Variable's) on this device, copied if it is elsewhere."""
        from core.arrays.backend import to_backend

        return to_backend(array, self)

    def use(self) -> None:
        """Make this the device of new arrays, as `core.use` does."""
        from core.arrays.backend import use

        use(self)

    @property
    def xp(self) -> Any:
        """The namespace of the device's backend."""
        return self.backend.xp

    def __enter__(self) -> Device:
        native = self.backend.entered(self)
        native.__enter__()
        _innermost.set(_Open(self, native, _innermost.get()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        block = _innermost.get()
        if block is not None:
            _innermost.set(block.around)
            block.native.__exit__(kind, error, trace)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self.backend is other.backend and self.id == other.id

    def __hash__(self) -> int:
        return hash((self.backend.name, self.id))

    def __str__(self) -> str:
        return self.backend.name if self.id is None else f"{self.backend.name}:{self.id}"

    def __repr__(self) -> str:
        return f"<device {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from core.arrays.backend import get_device

        return get_device, (str(self),)
