"""Interpolated images: lines of two rows each, whose pixels then make the new ones.

The formula makes arrays of all low and all high neighbours, along one axis and then the other. Here
a line stays in the cache until its pixels are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Array,
    Indices2,
    Read2,
    Read3,
    Write3,
    compiled,
    dense,
    number,
    suits,
)

LEAST = 65536  # elements of a part
CALLS = 16  # so many functions of NumPy the formula calls
ZERO = number(0)


@compiled
def _mix(
    x: Read3,
    rows: Indices2,
    columns: Indices2,
    down: Read2,
    across: Read2,
    y: Write3,
    start: int,
    stop: int,
) -> None:
    line = np.empty(x.shape[2], x.dtype)
    left, right, near, far = columns[0], columns[1], across[0], across[1]
    for image in range(start, stop):
        for i in range(y.shape[1]):
            top, low = x[image, rows[0, i]], x[image, rows[1, i]]
            a, b = down[0, i], down[1, i]
            for j in range(line.size):
                line[j] = top[j] * a + low[j] * b
            out = y[image, i]
            for j in range(out.size):
                first, second = line[np.uint64(left[j])], line[np.uint64(right[j])]
                out[j] = first * near[j] + second * far[j]


@compiled
def _part(
    g: Read3,
    rows: Indices2,
    columns: Indices2,
    down: Read2,
    across: Read2,
    gx: Write3,
    start: int,
    stop: int,
) -> None:
    line = np.empty(gx.shape[2], g.dtype)
    left, right, near, far = columns[0], columns[1], across[0], across[1]
    for image in range(start, stop):
        for i in range(g.shape[1]):
            given = g[image, i]
            line[:] = ZERO
            for j in range(given.size):
                line[np.uint64(left[j])] += given[j] * near[j]
                line[np.uint64(right[j])] += given[j] * far[j]
            top, low = gx[image, rows[0, i]], gx[image, rows[1, i]]
            a, b = down[0, i], down[1, i]
            for j in range(line.size):
                top[j] += line[j] * a
            for j in range(line.size):
                low[j] += line[j] * b


def _divided(loop: Any, f: Any, given: Array, found: Array) -> Array:
    """Images computed in threads, with the numbers and shares that the operation has left."""
    count = given.shape[0] * given.shape[1]
    images = [dense(a)[0].reshape(count, *a.shape[2:]) for a in (given, found)]
    least = -(-LEAST // max(given[0, 0].size, found[0, 0].size))
    neighbours = dense(f.rows, f.columns, f.down, f.across)  # which the formula may have left
    parallel.divide(loop, count, least, images[0], *neighbours, images[1])
    return found


def resize_images(f: Any, xp: Any, x: Array) -> Any:
    """Interpolated images."""
    if f.mode == "nearest" or not suits(x, calls=CALLS) or 0 in f.output_shape:
        return NotImplemented
    f.rows, f.down = f.neighbours(xp, x, 2)
    f.columns, f.across = f.neighbours(xp, x, 3)
    return _divided(_mix, f, x, np.empty((*x.shape[:2], *f.output_shape), x.dtype))


def resize_images_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """Each gradient given to the four pixels that it comes from."""
    if f.mode == "nearest" or not suits(g, calls=CALLS):
        return NotImplemented
    shape = f._sources[0].spec.shape
    return (_divided(_part, f, g, np.zeros(shape, g.dtype)),)
