"""The cross entropy of classes along the second axis, as of images: some places at a time.

Scores of one class lie side by side; so do those of neighbouring places in a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ONE, ZERO, exp
from backends.numpy_backend.kernels.compiler import (
    SUMS,
    Array,
    Indices,
    Read1,
    Read3,
    Write1,
    Write3,
    WriteInts,
    compiled,
)

BLOCK = 256  # places, whose scores are read again from a near cache
LEAST = 65536  # elements of a part


@compiled(fastmath=SUMS)
def _losses(
    x: Read3,
    labels: Indices,
    ignored: int,
    tops: Write1,
    log_totals: Write1,
    losses: Write1,
    weights: Write1,
    outside: WriteInts,
    start: int,
    stop: int,
) -> None:
    """Maxima, logarithms of sums of exp(x - maximum), losses and weights of blocks of places."""
    classes, places = x.shape[1], x.shape[2]
    blocks = (places + BLOCK - 1) // BLOCK
    for unit in range(start, stop):
        n, first = unit // blocks, unit % blocks * BLOCK
        size = min(BLOCK, places - first)
        at = n * places + first
        top, total = tops[at : at + size], log_totals[at : at + size]
        for i in range(size):
            top[i], total[i] = x[n, 0, first + i], ZERO
        for c in range(1, classes):
            row = x[n, c, first : first + size]
            for i in range(size):
                v, t = row[i], top[i]
                top[i] = v if v > t or v != v else t
        for c in range(classes):
            row = x[n, c, first : first + size]
            for i in range(size):
                total[i] += exp(row[i] - top[i])
        for i in range(size):
            label, total[i] = labels[at + i], np.log(total[i])
            losses[at + i] = weights[at + i] = ZERO
            if 0 <= label < classes and label != ignored:
                # Scores are compared first: they are of one size, so that nothing is lost.
                score = x[n, label, first + i] - top[i]
                losses[at + i], weights[at + i] = total[i] - score, ONE
            elif label != ignored:
                outside[0] = 1


@compiled
def _shares(
    x: Read3,
    labels: Indices,
    ignored: int,
    tops: Read1,
    log_totals: Read1,
    factors: Read1,
    gx: Write3,
    start: int,
    stop: int,
) -> None:
    """(exp(x - maximum - log_total) - onehot(label)) factor; 0 for an ignored label."""
    classes, places = x.shape[1], x.shape[2]
    blocks = (places + BLOCK - 1) // BLOCK
    for unit in range(start, stop):
        n, first = unit // blocks, unit % blocks * BLOCK
        last = min(first + BLOCK, places)
        at, end = n * places + first, n * places + last
        top, total, factor = tops[at:end], log_totals[at:end], factors[at:end]
        label = labels[at:end]
        for c in range(classes):
            row, out = x[n, c, first:last], gx[n, c, first:last]
            for i in range(row.size):
                share = exp(row[i] - top[i] - total[i])
                value = (share - (ONE if label[i] == c else ZERO)) * factor[i]
                out[i] = ZERO if label[i] == ignored else value


def _divide(loop: Any, x: Array, *others: Any) -> None:
    images, classes, places = x.shape
    units = images * -(-places // BLOCK)
    parallel.divide(loop, units, -(-LEAST // (BLOCK * classes)), x, *others)


def losses(x: Array, labels: Array, ignored: int) -> tuple[Array, ...] | None:
    """Maxima, logarithms of sums, losses and weights 0 or 1 of places; None for a wrong label."""
    found = np.empty((4, labels.size), x.dtype)
    outside = np.zeros(1, np.int32)
    _divide(_losses, x, labels, ignored, *found, outside)
    return None if outside[0] else tuple(found)


def shares(x: Array, labels: Array, ignored: int, *kept: Array) -> Array:
    """The gradient of scores, of maxima, logarithms of sums and factors of places."""
    gx = np.empty_like(x)
    _divide(_shares, x, labels, ignored, *kept, gx)
    return gx
