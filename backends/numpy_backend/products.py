"""Matrix products in threads of ours, each part on one thread of BLAS.

Rows of the result, its columns, or the matrices of a stack are divided, whichever there are more
of, by the sizes, the layout and the number of threads alone: so products repeat to the bit. Of the
gradient of weights, whose first factor is turned, it is rows: those that a thread multiplies with
when it computes columns of the layer's result (few_rows), and that it changes when the optimizer
makes its step. What one thread wrote, another has to fetch from the cache of its processor.
Where loops are
compiled, parts are handed over like those of loops. What the limits below were
measured at stands in docs/performance.md.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import blas, parallel
from backends.numpy_backend.kernels import compiler, gemm
from backends.numpy_backend.kernels.compiled import few_rows
from backends.numpy_backend.typing import Array
from core.registry.threads import num_threads

ALONE = 1 << 19  # multiplications: for fewer OpenBLAS itself takes one thread
VECTOR = 9216  # the same for a product with a vector
DIVIDED = 1 << 26  # for fewer a step gains nothing: what one wrote the other has to fetch
SHARED = 1 << 21  # the same where parts are handed over without the interpreter
PART = 1 << 20  # and these of a part
LEAST = 32  # rows or columns of a part
UNIT = 16  # they begin at a multiple of: no two threads write into a line of a cache
WIDE = 512  # as many, and a thread may have two parts: each part packs the whole other factor anew


def threads() -> int:
    """Among how many a product is divided: of BLAS's own no more are taken."""
    limits = blas.limits()
    return num_threads() if limits is None else min(num_threads(), limits.without)


def matmul(a: Array, b: Array, /, **options: Any) -> Any:
    """`numpy.matmul`; large products of floats are divided among threads."""
    if options:
        return np.matmul(a, b, **options)
    work = a.size * b.shape[-1]
    if work < VECTOR:
        return np.matmul(a, b)
    if len(b) == 1 and a.dtype == b.dtype and a.ndim == b.ndim == 2 and a.shape[1] == 1:
        return np.dot(a, b)  # a tenth of the time that NumPy's loop takes
    if work < ALONE and b.ndim == a.ndim == 2 and len(a) > 1:
        return np.matmul(a, b)
    a, b = (x.copy() if 0 in x.strides else x for x in (a, b))  # BLAS takes no repeated elements
    limits = blas.limits()
    alone = limits is not None and limits.without == 1
    if alone and a.ndim == 2 and len(a) == 1:  # a row: no product is sooner than its matrix is read
        return np.matmul(a, b)
    if work >= few_rows.LEAST and compiler.available():
        found = few_rows.product(a, b, threads=threads)
        if found is not None:
            return found
    if alone or limits is None:
        return np.matmul(a, b)
    limit = limits.enter(1)
    try:
        if (work >= SHARED or b.ndim > 2) and a.ndim > 1 and b.ndim > 1:
            return _in_threads(a, b, threads())
        return np.matmul(a, b)
    finally:
        limits.leave(limit)


class _Division(NamedTuple):
    """How products of some sizes are divided."""

    shape: tuple[int, ...]
    """Of all of the products."""

    work: int
    """Multiplications."""

    axis: int
    """Along which parts are cut."""

    unit: int
    """They begin at a multiple of it."""

    parts: int


@lru_cache(4096)
def _division(
    a: tuple[int, ...], b: tuple[int, ...], turned: bool, threads: int
) -> _Division | None:
    """That of products of matrices of these shapes, the first ones `turned`; None for none."""
    (m, k), n = a[-2:], b[-1]
    work = max(prod(a) * n, prod(b) * m)
    if threads == 1 or work < SHARED or k != b[-2]:
        return None
    lead = np.broadcast_shapes(a[:-2], b[:-2]) if len(a) + len(b) > 4 else ()
    stack = lead[0] if lead else 1
    if stack >= 2 * threads:
        axis, size, unit, least = -3, stack, 1, 1
    else:
        rows = m > n or (turned and m >= threads * LEAST)
        axis, size = (-2, m) if rows else (-1, n)
        unit, least = UNIT, LEAST
    of_each = 2 if least == 1 or size >= 2 * threads * WIDE else 1
    parts = parallel.count(size, max(least, size * PART // work), of_each, threads)
    return _Division((*lead, m, n), work, axis, unit, parts)


def _in_threads(a: Array, b: Array, threads: int) -> Any:
    division = _division(a.shape, b.shape, a.strides[-2] < a.strides[-1], threads)
    floats = a.dtype.kind in "fc" and a.dtype.isnative
    if division is None or a.dtype != b.dtype or not floats:
        return np.matmul(a, b)
    shape, work, axis, unit, parts = division
    out = np.empty(shape, a.dtype)
    if gemm.available(a.dtype):
        arguments = gemm.arguments(a, b, out, axis, unit)
        if arguments is not None:
            parallel.share(gemm.multiply, arguments, parts, threads, small=work < DIVIDED)
            return out
    if work < DIVIDED:
        return np.matmul(a, b, out=out)

    def part(i: int, j: int) -> None:
        if axis == -3:
            np.matmul(_some(a, i, j, out.ndim), _some(b, i, j, out.ndim), out=out[i:j])
        elif axis == -2:
            np.matmul(a[..., i:j, :], b, out=out[..., i:j, :])
        else:
            np.matmul(a, b[..., i:j], out=out[..., i:j])

    size = out.shape[0 if axis == -3 else axis]  # a stack may have axes within
    edges = [size * i // parts for i in range(parts + 1)]
    parallel.each(part, list(pairwise(edges)), threads)
    return out


def _some(a: Array, i: int, j: int, ndim: int) -> Array:
    """Matrices i to j of a stack; all of what is the same for every one of them."""
    return a[i:j] if a.ndim == ndim and a.shape[0] > 1 else a
