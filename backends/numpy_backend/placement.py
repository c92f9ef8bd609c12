"""Arrays that loops read and write beside another one, placed so that the processor does not wait.

A store across the edge of two lines of the cache takes twice as long, and streams at the same place
of their pages get into each other's way. NumPy takes memory as it comes, 16 bytes behind a line. So
an array here begins at the same place of a line as the one it goes with, which a loop can bring to
the edge by a few elements, and elsewhere in its page: a loop of Adam takes up to a quarter less
time (docs/measurements/memory.md).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.typing import Array
from core.typing import Shape

LINE = 64
PAGE = 4096
LARGE = 1 << 18  # bytes, of which a page is little

_quarter = 0  # of a page, 1 to 3 in turn: each parameter has a few arrays beside it


def beside(array: Array) -> Array | None:
    """An empty array like a large contiguous one; None for others, which any place does for."""
    if array.nbytes < LARGE or not array.flags.c_contiguous:
        return None
    global _quarter  # threads that come at once may get the same one, which is no harm
    _quarter = quarter = _quarter % 3 + 1
    room = np.empty(array.nbytes + PAGE, np.uint8)
    start = (address(array) + quarter * PAGE // 4 - address(room)) % PAGE
    return room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)


def in_lines(shape: Shape, dtype: np.dtype[Any]) -> Array:
    """An empty array that begins at the edge of a line, where loops put what they gather."""
    size = prod(shape) * dtype.itemsize
    room = np.empty(size + LINE, np.uint8)
    start = -address(room) % LINE
    return room[start : start + size].view(dtype).reshape(shape)


def address(array: Array) -> int:
    """Where an array begins."""
    found: int = array.__array_interface__["data"][0]
    return found
