"""NumPy's arrays as a backend: the standard's namespace is the numpy module itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from backends.numpy_backend import allocation, blas, placement
from backends.numpy_backend.methods import FEW
from backends.numpy_backend.namespace import few, namespace
from backends.numpy_backend.random import NumpyRandom
from backends.numpy_backend.scatter import scatter_add
from backends.numpy_backend.typing import Array
from backends.numpy_backend.windows import fold, windows
from core.arrays.backend import Backend, Device
from core.errors import BackendError
from core.errors.dtypes import no_dtype
from core.registry.threads import num_threads
from core.typing import Sizes

_greatest = np.maximum.reduce
_NUMBERS = "biufcV"  # kinds of dtypes; V are those of ml_dtypes


class NumpyBackend(Backend):
    """Arrays on the host, one device; subclasses of ndarray such as memmap included."""

    name = "numpy"
    library = "numpy"
    array_type = np.ndarray
    xp = np

    def __init__(self) -> None:
        allocation.prepare()
        blas.prepare()
        self.random = NumpyRandom()
        self._device = Device(self)

    @classmethod
    def unavailable(cls) -> str | None:
        """None: NumPy is always here."""
        return None

    @property
    def unlike(self) -> tuple[type, ...]:
        """Matrices, and masked arrays: there are none until somebody has imported their module."""
        masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", np.matrix)
        return np.matrix, masked

    def asarray(self, obj: Any, dtype: Any = None, device: Any = None) -> Array:
        """A plain ndarray; floats and sequences of them become float32 only if `dtype` says so."""
        return np.asarray(obj, dtype=self.dtype(dtype) if isinstance(dtype, str) else dtype)

    def to_host(self, array: Any) -> Array:
        """The array itself."""
        return np.asarray(array)

    def dtype(self, name: Any) -> np.dtype[Any]:
        """The `numpy.dtype` of a name or of any other object that NumPy takes for one.

        bfloat16 is that of ml_dtypes, which is imported when it is asked for.
        """
        if isinstance(name, str) and name == "bfloat16":
            return _bfloat16()
        found: np.dtype[Any] | None
        try:
            found = np.dtype(name)
        except TypeError:
            found = None
        if found is not None and name is not None and found.kind in _NUMBERS:
            return found
        raise no_dtype(name, self.dtypes(), "NumPy has no dtype of numbers")

    def dtype_name(self, dtype: Any) -> str:
        """The plain name of a dtype, `'float32'`."""
        return _plain_name(np.dtype(dtype))

    def kind(self, dtype: Any) -> str:
        """NumPy's own letter: b, i, u, f, c, O, ...; V for bfloat16 and its kin alone."""
        dtype = np.dtype(dtype)
        return "O" if issubclass(dtype.type, np.void) else dtype.kind  # records are no numbers

    def dtypes(self) -> tuple[str, ...]:
        """The standard's dtypes, and float16."""
        return ("float16", *super().dtypes())

    def ops_xp(self, shape: tuple[int, ...]) -> ModuleType:
        """The numpy module with some functions replaced, of which others suit a few elements."""
        return few if prod(shape) < FEW else namespace

    def limited_threads(self, number: int) -> AbstractContextManager[None]:
        """NumPy's BLAS, in the whole process, where it is an OpenBLAS that can be told."""
        return blas.limited(number)

    def overflowing(self) -> np.errstate:
        """A context without warnings of overflow and NaN."""
        return np.errstate(over="ignore", invalid="ignore")

    def devices(self) -> list[Device]:
        """The one device."""
        return [self._device]

    def device_of(self, array: Any) -> Device:
        """The one device."""
        return self._device

    def spec_device(self, array: Any) -> None:
        """None: arrays of NumPy are all in one place."""

    def native_device(self, device: Any = None) -> str:
        """What NumPy's functions take as `device`."""
        self.as_device(device)
        return "cpu"

    def to_device(self, array: Array, device: Any = None) -> Array:
        """The array itself."""
        self.as_device(device)
        return array

    def memory_stats(self) -> dict[str, int]:
        """Bytes that the process's `malloc` holds, and of these the free ones; {} if unknown."""
        return allocation.stats()

    def state(self) -> dict[str, Any]:
        """The number of threads, the BLAS and its own, what memory is kept, what is compiled."""
        from backends.numpy_backend.kernels import compiler

        kept = f"{allocation.limit()} MiB" if allocation.limit() else "as the C library does"
        return {
            "num_threads": num_threads(),
            **blas.state(),
            "kept memory": kept,
        } | compiler.state()

    def fuser(self) -> Any:
        """Loops that numba compiles, where it is installed."""
        from backends.numpy_backend.kernels.compiler import available

        if not available():
            return None
        from backends.numpy_backend.fusion import CompiledLoops

        return CompiledLoops()

    def release_memory(self) -> None:
        """Give memory that was freed, and is kept for the next arrays, back to the system."""
        allocation.release()

    def copy(self, array: Array) -> Array:
        """A new array in the memory order of the given one."""
        return array.copy(order="K")

    def copyto(self, dst: Array, src: Any) -> Array:
        """Write a number or an array into `dst`."""
        given = src if type(src) is np.ndarray else self._to_device_of(dst, src)
        np.copyto(dst, given, casting="unsafe")
        return dst

    def filled_like(self, array: Array, number: float) -> Array:
        """An array of one number, placed for loops over both; in the memory order of the other."""
        found = placement.beside(array)
        return self.copyto(self.copy(array) if found is None else found, number)

    def writable(self, array: Array) -> bool:
        """Whether it is not read-only, as arrays are that have been broadcast."""
        return array.flags.writeable

    def owns(self, array: Array) -> bool:
        """Whether it is no view of anything, and not read-only."""
        return array.flags.owndata and array.flags.writeable

    def scatter_add(self, a: Array, index: Any, values: Any) -> Array:
        """`a[index] += values` in place, repeated places added to as often as they are named."""
        scatter_add(a, index, values)
        return a

    def windows(
        self,
        x: Array,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
        cover_all: bool = False,
        pad_value: float = 0.0,
    ) -> Array:
        """All windows of `x` (n, c, *spatial): a read-only view (n, c, *ksize, *out)."""
        return windows(x, ksize, stride, pad, dilate, cover_all, pad_value)

    def fold(
        self,
        windows: Array,
        size: Sequence[int],
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
    ) -> Array:
        """The adjoint of `windows`: (n, c, *ksize, *out) to (n, c, *size), overlaps summed."""
        return fold(windows, size, stride, pad, dilate)

    def outside(self, numbers: Any, size: int) -> bool:
        """Negative numbers, read as unsigned ones, are greater than any size."""
        if not numbers.size:
            return False
        return bool(_greatest(numbers.view(_unsigned(numbers.dtype)), None) >= size)


@lru_cache(maxsize=256)  # NumPy puts it together anew each time, in 2 us
def _plain_name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)


@lru_cache(maxsize=256)
def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"{dtype.byteorder}u{dtype.itemsize}")


def _bfloat16() -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError:
        raise BackendError(
            "dtype: NumPy has no bfloat16 of its own. Install it: pip install 'plugrad[bfloat16]'."
        ) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found
