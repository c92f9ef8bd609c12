"""The affine map of a linear layer: bias and product in one pass, and in threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel, products
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.products import blocked, few_rows
from backends.numpy_backend.kernels.compiler import (
    ROWS,
    Array,
    Read1,
    Read2,
    Write1,
    Write2,
    compiled,
)
from backends.numpy_backend.kernels.plain import weights

LEAST = 131072  # elements of a part


@compiled
def _add_to_rows(y: Write2, b: Read1, start: int, stop: int) -> None:
    for i in range(start, stop):
        row = y[i]
        for j in range(b.size):
            row[j] += b[j]


@compiled
def _sum_of_rows(g: Read2, part: Write1, total: Write1, start: int, stop: int) -> None:
    """The sums of columns `start` to `stop`, with the bits of the backend's `sum`."""
    sums, some = total[start:stop], part[start:stop]
    for first in range(0, g.shape[0], ROWS):
        for j in range(some.size):
            some[j] = g[first, start + j]
        for i in range(first + 1, min(first + ROWS, g.shape[0])):
            row = g[i, start:stop]
            for j in range(some.size):
                some[j] += row[j]
        for j in range(some.size):
            sums[j] = sums[j] + some[j] if first else some[j]


def _many(a: Array) -> bool:
    return a.size >= 2 * LEAST and a.dtype in compiler.FLOATS and a.flags.c_contiguous


@compiler.in_loops
@compiler.large
def linear(f: Any, xp: Any, x: Array, W: Array, b: Array | None = None) -> Array:
    """`x W^T + b`."""
    plain = b is None or (
        b.shape == W.shape[:1] and b.dtype == x.dtype and b.flags.c_contiguous and b.flags.aligned
    )
    y = None
    if plain and x.size * len(W) >= few_rows.LEAST:
        for product in (few_rows.product, blocked.product):
            y = product(x, W.T, b, products.threads) if y is None else y
    if y is None:
        y = xp.matmul(x, W.T)
        if b is not None:
            if plain and y.dtype == b.dtype and _many(y):
                parallel.divide(_add_to_rows, len(y), -(-LEAST // y.shape[1]), y, b)
            else:
                y += b
    return y


@compiler.in_loops
def linear_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The formula's; the gradient of many biases in threads."""
    found = weights.linear_gradient(f, g, needs_grad)
    if found is not NotImplemented or not needs_grad & 4 or not _many(g):
        return found
    x, W, _ = f._sources
    gx = products.matmul(g, W.data) if needs_grad & 1 else None
    gW = products.matmul(g.T, x.data) if needs_grad & 2 else None
    part, gb = np.empty((2, g.shape[1]), g.dtype)
    parallel.divide(_sum_of_rows, g.shape[1], -(-LEAST // len(g)), g, part, gb)
    return gx, gW, gb


linear_gradient.least = weights.LEAST  # type: ignore[attr-defined]
