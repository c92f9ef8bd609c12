"""Float32 masters: what takes the steps of a 16-bit parameter, which is its master rounded."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import Backend
from core.link.parameter import Parameter


class Master(Parameter):
    """The float32 copy of a parameter that small changes add up in.

    Args:
        array: What it begins with: a float32 array.
        name: That of the parameter.
    """

    __slots__ = ("_written", "_written_version")

    _written: Any  # the parameter's array that last took the rounded values, and its version then
    _written_version: int | None

    def __init__(self, array: Any, name: str | None = None) -> None:
        super().__init__(array, name=name)
        self._written = self._written_version = None

    def follow(self, param: Parameter) -> None:
        """Take over the elements that others have changed in `param`, and be where it is."""
        if self._written is param.array and self._written_version == param.version:
            return
        if self.device != param.device:
            self.to_device(param.device)
        backend, array = param.backend, param.array
        same = cast(backend, self.array, array.dtype) == array
        self.array = backend.xp.asarray(
            backend.xp.where(same, self.array, cast(backend, array, "float32"))
        )

    def round_to(self, param: Parameter) -> None:
        """Write the values, rounded, into `param`."""
        rounded = cast(param.backend, self.array, param.dtype)
        param.array = param.backend.copyto(param.array, rounded)
        self._written, self._written_version = param.array, param.version


def cast(backend: Backend, array: Any, dtype: Any) -> Any:
    """A copy of an array in another dtype, in its own place."""
    return backend.asarray(array, backend.dtype(dtype), backend.device_of(array))
