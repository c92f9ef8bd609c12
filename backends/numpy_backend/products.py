"""Matrix products in threads of ours.

Where loops are compiled, products of floats are computed by loops of ours, whose parts are handed
over without the interpreter: those of few rows by one, others by another. Else each part is a
product on one thread of BLAS. Rows of the result, its columns, or the matrices of a stack are
divided, by the sizes, the layout and the number of threads alone: so products repeat to the bit.
What the limits were measured at stands in docs/measurements/products.md.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from backends.numpy_backend import blas, parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.products import blocked, few_rows
from backends.numpy_backend.typing import Array
from core.registry.threads import num_threads

ALONE = 1 << 19  # multiplications: for fewer OpenBLAS itself takes one thread
VECTOR = 9216  # the same for a product with a vector
DIVIDED = 1 << 26  # for fewer to divide gains nothing: handing over takes the interpreter's lock
PART = 1 << 20  # of a part
LEAST = 32  # rows or columns of a part
WIDE = 512  # as many, and a thread may have two parts: each part packs the whole other factor anew


def threads() -> int:
    """Among how many a product is divided: of BLAS's own no more are taken."""
    limits = blas.limits()
    return num_threads() if limits is None else min(num_threads(), limits.without)


def matmul(a: Array, b: Array, /, **options: Any) -> Any:
    """`numpy.matmul`; large products of floats are divided among threads."""
    if options:
        return np.matmul(a, b, **options)
    work = a.size * b.shape[-1] if b.ndim > 1 else a.size
    if work < VECTOR:
        return np.matmul(a, b)
    two = a.ndim == b.ndim == 2
    if two and a.shape[1] == 1 and a.dtype == b.dtype:
        return np.dot(a, b)  # a tenth of the time that NumPy's loop takes
    row = a.ndim == 2 and len(a) == 1  # no product is sooner than its matrix is read
    if two and not row and work < few_rows.LEAST:
        return np.matmul(a, b)
    limits = blas.limits()
    alone = limits is not None and limits.without == 1
    if work >= few_rows.LEAST and compiler.available() and not (alone and row):
        for product in (few_rows.product, blocked.product):
            found = product(a, b, threads=threads)
            if found is not None:
                return found
    if work < ALONE and two and not row:
        return np.matmul(a, b)
    return _by_blas(a, b, limits)


def _by_blas(a: Array, b: Array, limits: Any) -> Any:
    """A product that is large enough to be divided, where BLAS's threads can be told."""
    if 0 in a.strides:  # BLAS takes no repeated elements
        a = a.copy()
    if 0 in b.strides:
        b = b.copy()
    if limits is None or limits.without == 1:
        return np.matmul(a, b)
    large = a.size * b.shape[-1] >= DIVIDED or b.ndim > 2
    limit = limits.enter(1)
    try:
        if large and a.ndim > 1 and b.ndim > 1:
            return _in_threads(a, b, threads())
        return np.matmul(a, b)
    finally:
        limits.leave(limit)


def _in_threads(a: Array, b: Array, threads: int) -> Any:
    """Products in parts of the stack, of rows, or of columns, whichever there are more of."""
    (m, k), n = a.shape[-2:], b.shape[-1]
    work = max(a.size * n, b.size * m)
    floats = a.dtype == b.dtype and a.dtype.kind in "fc" and a.dtype.isnative
    if threads == 1 or work < DIVIDED or k != b.shape[-2] or not floats:
        return np.matmul(a, b)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out, stack = np.empty((*lead, m, n), a.dtype), lead[0] if lead else 1
    if stack >= 2 * threads:
        axis, size, least = -3, stack, 1
    else:
        axis, size, least = (-2, m, LEAST) if m > n else (-1, n, LEAST)
    of_each = 2 if least == 1 or size >= 2 * threads * WIDE else 1
    parts = parallel.count(size, max(least, size * PART // work), of_each, threads)

    def part(i: int, j: int) -> None:
        if axis == -3:
            np.matmul(_some(a, i, j, out.ndim), _some(b, i, j, out.ndim), out=out[i:j])
        elif axis == -2:
            np.matmul(a[..., i:j, :], b, out=out[..., i:j, :])
        else:
            np.matmul(a, b[..., i:j], out=out[..., i:j])

    edges = [size * i // parts for i in range(parts + 1)]
    parallel.each(part, list(pairwise(edges)), threads)
    return out


def _some(a: Array, i: int, j: int, ndim: int) -> Array:
    """Matrices i to j of a stack; all of what is the same for every one of them."""
    return a[i:j] if a.ndim == ndim and a.shape[0] > 1 else a
