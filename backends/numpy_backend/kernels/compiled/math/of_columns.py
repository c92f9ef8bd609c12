"""Sums along axes before the last ones, of what lies side by side, with NumPy's bits.

NumPy adds one row after the other to the sums, which it reads and writes for each. Here four are
added at once, in the same order, and columns are divided among threads.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiler import FLOATS, ROWS, Array, Read3, Write2, compiled

LEAST = 1 << 14  # elements, of fewer of which NumPy takes as long
MANY = 256  # rows, each of which NumPy takes by itself: then fewer elements are enough
PART = 1 << 17  # elements of a part
BLOCK = 1024  # columns whose sums stay in the nearest cache


@compiled
def _sums(x: Read3, y: Write2, blocks: int, start: int, stop: int) -> None:
    """Those of blocks of columns, of which each matrix has so many."""
    n, columns = x.shape[1], x.shape[2]
    for part in range(start, stop):
        matrix, first = part // blocks, part % blocks * BLOCK
        last = min(first + BLOCK, columns)
        sums = y[matrix, first:last]
        sums[:] = ZERO
        for k in range(0, n - 3, 4):
            a, b = x[matrix, k, first:last], x[matrix, k + 1, first:last]
            c, d = x[matrix, k + 2, first:last], x[matrix, k + 3, first:last]
            for i in range(sums.size):
                sums[i] = (((sums[i] + a[i]) + b[i]) + c[i]) + d[i]
        for k in range(n // 4 * 4, n):
            row = x[matrix, k, first:last]
            for i in range(sums.size):
                sums[i] += row[i]


def total(a: Array, axis: Any, options: Any) -> Array | None:
    """The sums of up to ROWS rows, along neighbouring axes before the last; None for others.

    And for few elements, and a single column, which NumPy takes for a row.
    """
    axes = axis if type(axis) is tuple else (axis,)
    if type(a) is not np.ndarray or a.dtype not in FLOATS:
        return None
    if not (a.flags.c_contiguous and a.flags.aligned and options.keys() <= {"keepdims"}):
        return None
    if not axes or set(map(type, axes)) != {int}:
        return None
    axes = tuple([i % a.ndim if -a.ndim <= i < a.ndim else a.ndim for i in axes])
    first, stop = axes[0], axes[0] + len(axes)
    before, after, n = a.shape[:first], a.shape[stop:], prod(a.shape[first:stop])
    columns = prod(after)
    if axes != tuple(range(first, stop)) or stop > a.ndim or columns < 2 or n > ROWS:
        return None
    if a.size < LEAST and n < MANY:
        return None
    y, blocks = np.empty((prod(before), columns), a.dtype), -(-columns // BLOCK)
    least = -(-PART // (n * min(columns, BLOCK)))
    parallel.divide(_sums, len(y) * blocks, least, a.reshape(-1, n, columns), y, blocks)
    return y.reshape(before + (1,) * len(axes) * bool(options.get("keepdims")) + after)
