"""The backend `thing`: arrays of array_api_strict, until yours takes its place."""

from typing import Any

import array_api_strict
import numpy as np
from core.arrays.backend import Backend, HostRandom


class ThingBackend(Backend):
    """What the array API standard leaves open about a library."""

    name = "thing"
    library = "array_api_strict"
    xp = array_api_strict
    array_type = type(array_api_strict.asarray(0.0))

    def __init__(self) -> None:
        self.random = HostRandom(self)

    @classmethod
    def unavailable(cls) -> str | None:
        """Why it cannot be used here, or None."""
        return None

    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> Any:
        """An array of ours, from anything."""
        dtype = self.dtype(dtype)
        if type(obj) is self.array_type:
            obj = self.to_device(obj, device) if device is not None else obj
            return obj if dtype in (None, obj.dtype) else self.xp.astype(obj, dtype)
        host = np.array(obj, dtype=None if dtype is None else self.dtype_name(dtype))
        return self.xp.asarray(host, dtype=dtype, device=self.native_device(device))

    def to_host(self, array: Any) -> Any:
        """An array of NumPy."""
        return np.asarray(array._array)

    def memory(self, array: Any) -> int:
        """What tells whose memory an array shows, if it is a view."""
        return super().memory(array._array)

    def writable(self, array: Any) -> bool:
        """Whether each element may be written to: not where a broadcast shows one several times."""
        return bool(array._array.flags.writeable)
