"""Gradients of products: what stands before an element times what stands behind it.

The formula multiplies pairs, and pairs of pairs, in arrays of their own for each of log n steps.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    MANY,
    Array,
    Read2,
    Read3,
    Write3,
    compiled,
    dense,
    number,
    suits,
)

LEAST = 65536  # elements of a part
ONE = number(1)


@compiled
def _others(x: Read3, g: Read2, gx: Write3, start: int, stop: int) -> None:
    product = np.empty(x.shape[2], x.dtype)
    n = x.shape[1]
    for i in range(start, stop):
        if x.shape[2] == 1:
            total = ONE
            for k in range(n):
                gx[i, k, 0] = total
                total *= x[i, k, 0]
            total = g[i, 0]
            for k in range(n - 1, -1, -1):
                gx[i, k, 0] *= total
                total *= x[i, k, 0]
            continue
        product[:] = ONE
        for k in range(n):
            row, out = x[i, k], gx[i, k]
            for j in range(row.size):
                out[j] = product[j]
                product[j] *= row[j]
        product[:] = g[i]
        for k in range(n - 1, -1, -1):
            row, out = x[i, k], gx[i, k]
            for j in range(row.size):
                out[j] *= product[j]
                product[j] *= row[j]


def prod_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The products of all others along one axis, or along several that lie side by side."""
    x = f._sources[0].data
    axis = range(x.ndim) if f.axis is None else (f.axis,) if isinstance(f.axis, int) else f.axis
    axes = sorted([a % x.ndim for a in axis])
    if not suits(x, calls=MANY) or not axes or axes != [*range(axes[0], axes[-1] + 1)]:
        return NotImplemented
    n, after = prod([x.shape[a] for a in axes]), prod(x.shape[axes[-1] + 1 :])
    before = x.size // (n * after)
    (rows,) = dense(x)
    (gradients,) = dense(g)
    gx = np.empty(x.shape, x.dtype)
    shape = before, n, after
    given = rows.reshape(shape), gradients.reshape(before, after), gx.reshape(shape)
    parallel.divide(_others, before, -(-LEAST // (n * after)), *given)
    return (gx,)
