"""What devices are called in version 7, what they have there, and how links named theirs before."""

from __future__ import annotations

import contextlib
from typing import Any

from core import Link
from core.arrays.backend import BACKENDS, Device


def switch() -> None:
    """Print devices as `get_device` takes them: '@numpy', '@cupy:0'."""
    kind: Any = Device
    kind.__str__ = _named
    kind.supported_array_types = property(_array_types)
    kind.create_context = _context
    kind.send_array = Device.send
    link: Any = Link
    link._device_id = property(_id_of_gpu, lambda self, _: None)
    link._cpu = property(lambda self: _id_of_gpu(self) is None, lambda self, _: None)


def _named(self: Device) -> str:
    return f"@cupy:{self.id}" if self.backend.on_gpu else "@numpy"


def _id_of_gpu(self: Link) -> int | None:
    return self.device.id if self.device.backend.on_gpu else None


def _array_types(self: Device) -> tuple[type, ...]:
    return tuple([array for array, backend in BACKENDS.items() if backend is self.backend])


@contextlib.contextmanager
def _context(self: Device) -> Any:
    """A block in which the device is the current one, where its library knows such a thing."""
    with self:
        yield self
