"""Sums over all axes but that of channels, such as the gradient of a convolution's bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiler import (
    SUMS,
    Array,
    Read3,
    Write1,
    compiled,
    number,
)

LEAST = 1 << 16  # elements: NumPy sums fewer as fast
PART = 1 << 16  # elements of a part
BLOCK = 4096  # elements that are summed in their own dtype
ZERO = number(0)


@compiled(fastmath=SUMS)
def _sum_of_channels(x: Read3, sums: Write1, start: int, stop: int) -> None:
    for c in range(start, stop):
        total = 0.0
        for n in range(x.shape[0]):
            plane = x[n, c]
            for first in range(0, plane.size, BLOCK):
                block = plane[first : first + BLOCK]
                part = ZERO
                for i in range(block.size):
                    part += block[i]
                total += part
        sums[c] = total


def total(x: Array, axis: Any, options: Any) -> Array | None:
    """The sum over these axes, of planes in the dtype of x and over planes in float64.

    None where the axes are others than all but the second, or NumPy does as well.
    """
    if x.size < LEAST or x.ndim < 3 or axis != (0, *range(2, x.ndim)) or options.get("keepdims"):
        return None
    if x.dtype not in compiler.FLOATS or not x.flags.c_contiguous or not x.flags.aligned:
        return None
    if not options.keys() <= {"keepdims"}:
        return None
    channels = x.shape[1]
    sums = np.empty(channels, x.dtype)
    planes = np.asarray(x).reshape(len(x), channels, -1)
    parallel.divide(_sum_of_channels, channels, -(-PART * channels // x.size), planes, sums)
    return sums
