"""Softmax along an axis behind which there are others: a block of places in one go.

What is summed over lies apart, and places side by side; so each has a lane of a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ZERO, exp
from backends.numpy_backend.kernels.compiler import (
    SUMS,
    Array,
    Read3,
    Write1,
    Write3,
    compiled,
    compiled_with,
    empty,
    inlined,
    inlined_exactly,
)

BLOCK = 256  # places, whose elements are read again from a near cache
LEAST = 65536  # elements of a part


@inlined_exactly
def less(v: Any, top: Any, total: Any) -> Any:
    """Take away the maximum first, which is of the size of v, so that nothing is lost."""
    return (v - top) - total


@inlined_exactly
def begin(x: Any, first: int, last: int, top: Any, total: Any) -> None:
    """The maxima of a block of places, of numbers alone, and sums of nothing yet."""
    for i in range(top.size):
        top[i], total[i] = x[0, first + i], ZERO
    for c in range(1, x.shape[0]):
        row = x[c, first:last]
        for i in range(row.size):
            top[i] = max(top[i], row[i])  # what is no number makes the sum none


@compiled(fastmath=SUMS)
def softmax(x: Read3, y: Write3, tops: Write1, totals: Write1, start: int, stop: int) -> None:
    """Exp(x - maximum) / sum."""
    places = x.shape[2]
    blocks = (places + BLOCK - 1) // BLOCK
    for unit in range(start, stop):
        n, first = unit // blocks, unit % blocks * BLOCK
        last = min(first + BLOCK, places)
        at, end = n * places + first, n * places + last
        top, total = tops[at:end], totals[at:end]
        begin(x[n], first, last, top, total)
        for c in range(x.shape[1]):
            row, out = x[n, c, first:last], y[n, c, first:last]
            for i in range(row.size):  # one array at a time is written, else nothing is a vector
                out[i] = exp(row[i] - top[i])
            for i in range(row.size):
                total[i] += out[i]
        for c in range(x.shape[1]):
            out = y[n, c, first:last]
            for i in range(out.size):
                out[i] /= total[i]


@compiled(fastmath=SUMS)
def log_softmax(x: Read3, y: Write3, tops: Write1, totals: Write1, start: int, stop: int) -> None:
    """(x - maximum) - log(sum of exp(x - maximum))."""
    places = x.shape[2]
    blocks = (places + BLOCK - 1) // BLOCK
    for unit in range(start, stop):
        n, first = unit // blocks, unit % blocks * BLOCK
        last = min(first + BLOCK, places)
        at, end = n * places + first, n * places + last
        top, total = tops[at:end], totals[at:end]
        begin(x[n], first, last, top, total)
        for c in range(x.shape[1]):
            row = x[n, c, first:last]
            for i in range(row.size):
                total[i] += exp(row[i] - top[i])
        for i in range(total.size):
            total[i] = np.log(total[i])
        for c in range(x.shape[1]):
            row, out = x[n, c, first:last], y[n, c, first:last]
            for i in range(row.size):
                out[i] = less(row[i], top[i], total[i])


_counted: Any = None  # what of a gradient and a result is added up
_returned: Any = None  # the gradient, of both and the sum


def _gradient(y: Read3, g: Read3, gx: Write3, totals: Write1, start: int, stop: int) -> None:
    places = y.shape[2]
    blocks = (places + BLOCK - 1) // BLOCK
    for unit in range(start, stop):
        n, first = unit // blocks, unit % blocks * BLOCK
        last = min(first + BLOCK, places)
        total = totals[n * places + first : n * places + last]
        total[:] = ZERO
        for c in range(y.shape[1]):
            row, given = y[n, c, first:last], g[n, c, first:last]
            for i in range(row.size):
                total[i] += _counted(given[i], row[i])
        for c in range(y.shape[1]):
            row, given, out = y[n, c, first:last], g[n, c, first:last], gx[n, c, first:last]
            for i in range(row.size):
                out[i] = _returned(given[i], row[i], total[i])


@inlined
def _product(g: Any, y: Any) -> Any:
    return g * y


@inlined
def _alone(g: Any, y: Any) -> Any:
    return g


@inlined
def _of_softmax(g: Any, y: Any, total: Any) -> Any:
    return y * (g - total)


@inlined
def _of_log_softmax(g: Any, y: Any, total: Any) -> Any:
    return g - exp(y) * total


softmax_gradient = compiled_with(
    _gradient, "softmax_gradient_across", _counted=_product, _returned=_of_softmax
)
log_softmax_gradient = compiled_with(
    _gradient, "log_softmax_gradient_across", _counted=_alone, _returned=_of_log_softmax
)


def computed(loop: Any, count: int, *arrays: Array) -> Array:
    """What a loop makes of arrays along the second of three axes, with so many sums of a place."""
    images, length, places = arrays[0].shape
    y, sums = np.empty_like(arrays[0]), empty(count, images * places, arrays[0].dtype)
    units, least = images * -(-places // BLOCK), -(-LEAST // (min(BLOCK, places) * length))
    parallel.divide(loop, units, least, *arrays, y, *sums)
    return y
