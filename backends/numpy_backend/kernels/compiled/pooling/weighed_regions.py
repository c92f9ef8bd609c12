"""Weighed sums of regions of images, which are looked at where they lie.

The formula has a copy of its image for each region, and multiplies it by matrices that are nearly
all zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Array,
    Indices,
    Indices2,
    Read3,
    Read4,
    Write4,
    compiled,
    dense,
    number,
    suits,
)

LEAST = 16384  # sums of a part
ZERO = number(0)


@compiled
def _weigh(
    x: Read4,
    images: Indices,
    rows: Read3,
    columns: Read3,
    top: Indices2,
    bottom: Indices2,
    left: Indices2,
    right: Indices2,
    y: Write4,
    start: int,
    stop: int,
) -> None:
    line = np.empty(x.shape[3], x.dtype)
    for r in range(images.size):
        first, last = left[r].min(), right[r].max()
        for channel in range(start, stop):
            plane, out = x[images[r], channel], y[r, channel]
            for i in range(top.shape[1]):
                for w in range(first, last):
                    line[w] = ZERO
                for h in range(top[r, i], bottom[r, i]):
                    weight, row = rows[r, i, h], plane[h]
                    for w in range(first, last):
                        line[w] += weight * row[w]
                for j in range(left.shape[1]):
                    total = ZERO
                    for w in range(left[r, j], right[r, j]):
                        total += columns[r, j, w] * line[w]
                    out[i, j] = total


@compiled
def _spread(
    g: Read4,
    images: Indices,
    rows: Read3,
    columns: Read3,
    top: Indices2,
    bottom: Indices2,
    left: Indices2,
    right: Indices2,
    gx: Write4,
    start: int,
    stop: int,
) -> None:
    line = np.empty(gx.shape[3], gx.dtype)
    for r in range(images.size):
        first, last = left[r].min(), right[r].max()
        for channel in range(start, stop):
            plane, given = gx[images[r], channel], g[r, channel]
            for i in range(top.shape[1]):
                for w in range(first, last):
                    line[w] = ZERO
                for j in range(left.shape[1]):
                    share = given[i, j]
                    for w in range(left[r, j], right[r, j]):
                        line[w] += share * columns[r, j, w]
                for h in range(top[r, i], bottom[r, i]):
                    weight, row = rows[r, i, h], plane[h]
                    for w in range(first, last):
                        row[w] += weight * line[w]


def _reach(weights: Array) -> tuple[Array, Array]:
    """(r, bins): the first element that counts in each bin, and the one behind the last."""
    counts = weights != 0
    first = counts.argmax(2)
    last = weights.shape[2] - counts[..., ::-1].argmax(2)
    return first, np.where(counts.any(2), last, first)


def _divided(
    loop: Any, given: Array, numbers: Array, rows: Array, columns: Array, found: Array
) -> Any:
    arrays = dense(given, rows, columns)
    reach = [np.ascontiguousarray(a, np.intp) for w in (rows, columns) for a in _reach(w)]
    channels, sums = found.shape[1], rows.shape[0] * rows.shape[1] * columns.shape[1]
    images = np.ascontiguousarray(numbers, np.intp)
    whole = arrays[0], images, arrays[1], arrays[2], *reach, found
    parallel.divide(loop, channels, -(-LEAST // max(sums, 1)), *whole)
    return found


def weighed_regions(f: Any, xp: Any, x: Array, numbers: Array, rows: Array, columns: Array) -> Any:
    """The sums of regions."""
    shape = rows.shape[0], x.shape[1], rows.shape[1], columns.shape[1]
    if not suits(x) or 0 in shape:
        return NotImplemented
    return _divided(_weigh, x, numbers, rows, columns, np.empty(shape, x.dtype))


def weighed_regions_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The gradient of images alone: weights have none."""
    shape = f._sources[0].spec.shape
    if needs_grad != 1 or not suits(g) or 0 in shape:
        return NotImplemented
    numbers, rows, columns = (source.data for source in f._sources[1:])
    gx = _divided(_spread, g, numbers, rows, columns, np.zeros(shape, g.dtype))
    return gx, None, None, None
