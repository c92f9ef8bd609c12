"""Means of windows that divide an axis evenly, each element looked at where it lies."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    MANY,
    ROWS,
    Array,
    Indices2,
    Read3,
    Write3,
    compiled,
    dense,
    number,
    suits,
)

LEAST = 65536  # elements of a part
ZERO = number(0)


@compiled
def _means(x: Read3, windows: Indices2, y: Write3, start: int, stop: int) -> None:
    for i in range(start, stop):
        for w in range(y.shape[1]):
            begin, end = windows[w, 0], windows[w, 1]
            count = x.dtype.type(end - begin)
            out = y[i, w]
            if out.size == 1:
                total = ZERO
                for k in range(begin, end):
                    total += x[i, k, 0]
                out[0] = total / count
            else:
                out[:] = ZERO
                for k in range(begin, end):
                    row = x[i, k]
                    for j in range(out.size):
                        out[j] += row[j]
                for j in range(out.size):
                    out[j] /= count


@compiled
def _spread(g: Read3, windows: Indices2, gx: Write3, start: int, stop: int) -> None:
    for i in range(start, stop):
        for w in range(g.shape[1]):
            begin, end = windows[w, 0], windows[w, 1]
            count = g.dtype.type(end - begin)
            given = g[i, w]
            for k in range(begin, end):
                row = gx[i, k]
                for j in range(row.size):
                    row[j] += given[j] / count


def _divided(loop: Any, given: Array, found: Array, axis: int, windows: Any) -> Array:
    """With what is before the axis and behind it as one axis each, in threads by the first."""
    before, after = prod(given.shape[:axis]), prod(given.shape[axis + 1 :])
    parts = [dense(a)[0].reshape(before, a.shape[axis], after) for a in (given, found)]
    least = -(-LEAST // max(parts[0][0].size, parts[1][0].size))
    parallel.divide(loop, before, least, parts[0], np.array(windows, np.intp), parts[1])
    return found


def _whole(f: Any, shape: tuple[int, ...]) -> tuple[int, Any] | None:
    """The axis and its windows; None where they are so long that sums have to be taken in parts."""
    axis, windows = f.windows(shape)
    return None if 0 in shape or shape[axis] > ROWS else (axis, windows)


def means_of_shares(f: Any, xp: Any, x: Array) -> Any:
    """The means of windows."""
    found = _whole(f, x.shape) if suits(x, calls=MANY) else None
    if found is None:
        return NotImplemented
    axis, windows = found
    y = np.empty((*x.shape[:axis], f.count, *x.shape[axis + 1 :]), x.dtype)
    return _divided(_means, x, y, axis, windows)


def means_of_shares_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """Each gradient, divided by the length of its window, for every element of this."""
    shape = f._sources[0].spec.shape
    found = _whole(f, shape) if suits(g, calls=MANY) else None
    if found is None:
        return NotImplemented
    return (_divided(_spread, g, np.zeros(shape, g.dtype), *found),)
