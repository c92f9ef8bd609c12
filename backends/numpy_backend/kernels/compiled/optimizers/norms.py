"""Norms of gradients, in one pass and without a temporary."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    SUMS,
    Read1,
    WriteSums,
    compiled,
    contiguous,
    number,
    suits,
)

PART = 1 << 18  # elements that one thread sums, whatever the number of threads: so are the bits
BLOCK = 4096  # elements that are summed in their own dtype
ZERO = number(0)


@compiled(fastmath=SUMS)
def _sum_of_squares(x: Read1, sums: WriteSums, place: int, start: int, stop: int) -> None:
    total = 0.0
    for first in range(start, stop, BLOCK):
        block = x[first : min(first + BLOCK, stop)]
        part = ZERO
        for i in range(block.size):
            part += block[i] * block[i]
        total += part
    sums[place] = total


def squared_norm(f: Any, xp: Any, x: Any) -> Any:
    """The sum of squares: of blocks in the dtype of x, over blocks in float64."""
    if not suits(x):
        return NotImplemented
    (flat,) = contiguous(x)
    starts = range(0, x.size, PART)
    sums = np.empty(len(starts))
    parts = [(flat, sums, i, at, min(at + PART, x.size)) for i, at in enumerate(starts)]
    parallel.each(_sum_of_squares, parts)
    return np.asarray(sums.sum(), x.dtype)
