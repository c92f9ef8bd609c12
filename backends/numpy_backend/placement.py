"""Arrays that loops read and write beside another one, placed so that the processor does not wait.

A store across the edge of two lines of the cache takes twice as long, and streams at the same place
of their pages get into each other's way. NumPy takes memory as it comes, 16 bytes behind a line. So
an array here begins at the same place of a line as the one it goes with, which a loop can bring to
the edge by a few elements, and elsewhere in its page: the state of Adam is updated in three
quarters of the time (docs/performance.md).
"""

from __future__ import annotations

from itertools import cycle

import numpy as np

from backends.numpy_backend.typing import Array

LINE = 64
PAGE = 4096
LARGE = 1 << 18  # bytes, of which a page is little

_quarters = cycle([PAGE // 4, PAGE // 2, PAGE * 3 // 4])  # each parameter has a few of them


def beside(array: Array) -> Array | None:
    """An empty array like a large contiguous one; None for others, which any place does for."""
    if array.nbytes < LARGE or not array.flags.c_contiguous:
        return None
    room = np.empty(array.nbytes + PAGE, np.uint8)
    start = (address(array) + next(_quarters) - address(room)) % PAGE
    return room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)


def address(array: Array) -> int:
    """Where an array begins."""
    found: int = array.__array_interface__["data"][0]
    return found
