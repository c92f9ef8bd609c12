"""Datasets that are handed to processes which can open the same files.

An array in a file that is mapped into memory, as `numpy.load(path, mmap_mode="r")` gives it, may be
larger than all memory. Pickled by NumPy it would be read as a whole, and each process would have a
copy of its own. Here it goes as its place in the file, which processes map and so share.
"""

from __future__ import annotations

import copyreg
import mmap
import pickle
import weakref
from collections.abc import Callable
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from plugins.processes import generators

_SMALL = 1 << 16  # bytes that are copied anyway
_LOOKS = 16


class Place(NamedTuple):
    """Where an array lies: `start` is that of its first element, in bytes from the file's."""

    path: str
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]

    def opened(self) -> Any:
        """The array there, which cannot be written to."""
        whole = _maps.get(self.path)
        if whole is None:
            with open(self.path, "rb") as file:
                whole = _maps[self.path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.ndarray(self.shape, self.dtype, whole, self.start, self.strides)


_maps: weakref.WeakValueDictionary[str, mmap.mmap] = weakref.WeakValueDictionary()


def dumps(obj: Any, protocol: int, buffer_callback: Callable[[Any], Any] | None) -> bytes:
    """Pickle as `pickle.dumps` does, but for arrays in mapped files that nobody can write to, and
    for random generators.
    """
    file = BytesIO()
    pickler = pickle.Pickler(file, protocol, buffer_callback=buffer_callback)
    pickler.dispatch_table = copyreg.dispatch_table | {
        np.ndarray: _reduced,
        np.memmap: _reduced,
        **dict.fromkeys(generators.KINDS, generators.reduced),
    }
    pickler.dump(obj)
    return file.getvalue()


class Sent(NamedTuple):
    """What `dumps` pickles also as a part of something else; unpickled it is `held` itself."""

    held: Any

    def __reduce__(self) -> Any:
        return pickle.loads, (dumps(self.held, 5, None),)


def _reduced(array: Any) -> Any:
    place = _place(array)
    if place is not None:
        return Place.opened, (place,)
    return array.view(np.ndarray).__reduce_ex__(5)  # whose memory is not copied, as a memmap's is


def _place(array: Any) -> Place | None:
    """Where in a file an array lies; None where it may change, or the path leads elsewhere now."""
    whole = array
    while isinstance(whole, np.ndarray) and not isinstance(whole.base, mmap.mmap):
        whole = whole.base
    path, mode = getattr(whole, "filename", None), getattr(whole, "mode", None)
    if path is None or mode != "r" or array.nbytes <= _SMALL or array.dtype.hasobject:
        return None
    start = whole.offset + array.__array_interface__["data"][0] - whole.ctypes.data
    place = Place(str(path), start, array.shape, array.dtype, array.strides)
    some = np.linspace(0, len(array) - 1, _LOOKS, dtype=np.int64)
    try:
        alike = place.opened()[some].tobytes() == array[some].tobytes()
    except (OSError, TypeError, ValueError):  # it is gone, or shorter
        return None
    return place if alike else None
