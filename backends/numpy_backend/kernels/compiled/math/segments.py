"""The greatest and the least row of each segment, in one pass over the rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Array,
    Indices,
    Read2,
    Write2,
    WriteInts,
    compiled,
    suits,
)

LEAST = 65536  # elements to be compared for each part


@compiled
def _extremes(
    rows: Read2, segments: Indices, y: Write2, most: int, begun: WriteInts, start: int, stop: int
) -> None:
    """The extremes of segments `start` to `stop`; a NaN makes that of its segment NaN."""
    for i in range(segments.size):
        k = segments[i]
        if start <= k < stop:
            best, row = y[k], rows[i]
            first = begun[k] == 0
            begun[k] = 1
            for j in range(row.size):
                greater = row[j] > best[j] if most else row[j] < best[j]
                if first or greater or row[j] != row[j]:
                    best[j] = row[j]


def _kernel(f: Any, xp: Any, x: Array, segments: Array, most: bool) -> Any:
    if not suits(x):
        return NotImplemented
    rows, numbers = f.rows(xp, x, segments)
    y = np.full((f.count, rows.shape[1]), f.empty, x.dtype)
    begun = np.zeros(f.count, np.int32)
    parts = parallel.bounds(rows.size, LEAST)
    edges = [f.count * i // (len(parts) - 1) for i in range(len(parts))]
    whole = np.ascontiguousarray(rows), np.ascontiguousarray(numbers, np.intp), y, most, begun
    parallel.each(_extremes, [(*whole, *span) for span in pairwise(edges)])
    return y.reshape(f.count, *x.shape[1:])


def segment_max(f: Any, xp: Any, x: Array, segments: Array) -> Any:
    """The greatest row of each segment."""
    return _kernel(f, xp, x, segments, True)


def segment_min(f: Any, xp: Any, x: Array, segments: Array) -> Any:
    """The least row of each segment."""
    return _kernel(f, xp, x, segments, False)
