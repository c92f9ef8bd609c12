"""Freed memory stays with the process, for the next results: what the C library does with it.

glibc maps arrays of 128 kB to 32 MB and more one by one, and gives free memory at the end of its
heap back at once. A training step allocates and frees the same arrays over and over, so each of
their pages is asked for, cleared and given back in each step: up to two fifths of its time. Here
glibc is told to keep up to so much (`PLUGRAD_KEPT_MEMORY`, in MiB; 0 leaves it alone) for the whole
process; `release` gives it back. What is measured stands in docs/measurements/memory.md: nothing is
left that an allocator of our own could win. Other C libraries are left as they are.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

VARIABLE = "PLUGRAD_KEPT_MEMORY"
LIMIT = 2047  # MiB: mallopt takes an int of bytes
CHOSEN_BY_USER = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Mallinfo2(ctypes.Structure):
    _fields_ = tuple([(name, ctypes.c_size_t) for name in _FIELDS.split()])


@cache
def _glibc() -> Any:
    """The C library of the process where it is glibc, else None."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no such thing
        return None
    return library if hasattr(library, "gnu_get_libc_version") else None


def limit() -> int:
    """How many MiB of freed memory may be kept; 0 where the C library decides."""
    text = os.environ.get(VARIABLE, "")
    if text and not text.isdecimal():
        raise ValueError(f"{VARIABLE}: expected a whole number of MiB, got {text!r}.")
    tuned = any(name in os.environ for name in CHOSEN_BY_USER)
    tuned = tuned or "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", "")
    if _glibc() is None or (tuned and not text):
        return 0
    return min(int(text), LIMIT) if text else LIMIT


def prepare() -> None:
    """Tell glibc how much freed memory to keep."""
    size = limit() << 20
    if size:
        glibc = _glibc()
        glibc.mallopt(_M_TRIM_THRESHOLD, size)
        for largest in (size, 32 << 20):  # more than the latter is refused by older versions
            if glibc.mallopt(_M_MMAP_THRESHOLD, min(largest, size)):
                break


def stats() -> dict[str, int]:
    """Bytes that malloc holds, and of these the free ones; empty where nobody says."""
    glibc = _glibc()
    if glibc is None or not hasattr(glibc, "mallinfo2"):
        return {}
    glibc.mallinfo2.restype = _Mallinfo2
    found = glibc.mallinfo2()
    return {"held": found.arena + found.hblkhd, "free": found.fordblks}


def release() -> None:
    """Give all free memory back to the system."""
    glibc = _glibc()
    if glibc is not None:
        glibc.malloc_trim(0)
