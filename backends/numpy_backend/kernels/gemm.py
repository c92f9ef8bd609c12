"""Products of matrices by BLAS's own function, so that threads share them as they share loops."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from backends.numpy_backend import blas
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiler import Write1, compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.typing import Array

Parts = list[tuple[Any, ...]]

_BY_ROWS, _AS_IT_IS, _TRANSPOSED = 101, 111, 112  # what CBLAS calls them


@emitted
def _gemm(
    e: Emitter,
    c: Any,
    function: Any,
    left: Any,
    right: Any,
    m: Any,
    n: Any,
    k: Any,
    a: Any,
    lda: Any,
    b: Any,
    ldb: Any,
    ldc: Any,
    place: Any,
) -> None:
    one, zero, result = e.constant(1.0), e.constant(0.0), e.at(c, place)
    order = e.number(_BY_ROWS)
    e.call(function, order, left, right, m, n, k, one, a, lda, b, ldb, zero, result, ldc)


@compiled
def multiply(
    c: Write1,
    function: int,
    left: int,
    right: int,
    m: int,
    n: int,
    k: int,
    a: int,
    lda: int,
    a_step: int,
    b: int,
    ldb: int,
    b_step: int,
    ldc: int,
    place: int,
    c_step: int,
    count: int,
) -> None:
    """Products of `count` matrices, from `place` on in `c`; a and b are addresses."""
    for i in range(count):
        _gemm(
            c,
            function,
            left,
            right,
            m,
            n,
            k,
            a + i * a_step,
            lda,
            b + i * b_step,
            ldb,
            ldc,
            place + i * c_step,
        )


def available(dtype: np.dtype[Any]) -> bool:
    """Whether products of a dtype can be shared so."""
    return compiler.available() and blas.gemm(dtype) is not None


def parts(a: Array, b: Array, out: Array, axis: int, edges: Iterable[int]) -> Parts | None:
    """Arguments of `multiply` for parts of the products; None if factors do not lie as BLAS asks.

    Args:
        a: Matrices (..., m, k), with one axis before at most.
        b: Matrices (..., k, n), likewise.
        out: The products, contiguous.
        axis: -3, -2 or -1: along which of `out` the parts are.
        edges: Where parts begin, and the end.
    """
    left, right = _laid(a), _laid(b)
    if left is None or right is None or out.ndim > 3:
        return None
    (m, n), k = out.shape[-2:], a.shape[-1]
    function, flat = blas.gemm(out.dtype), out.reshape(-1)
    stack = len(out) if out.ndim > 2 else 1
    steps = [x.strides[0] if x.ndim > 2 and len(x) > 1 else 0 for x in (a, b)]
    starts = [x.__array_interface__["data"][0] for x in (a, b)]
    ahead = {-3: (*steps, m * n), -2: (a.strides[-2], 0, n), -1: (0, b.strides[-1], 1)}[axis]
    found = []
    for i, j in pairwise(edges):
        shape = [stack, m, n]
        shape[axis] = j - i
        at_a, at_b, place = [
            start + i * step for start, step in zip((*starts, 0), ahead, strict=True)
        ]
        first = (flat, function, left[0], right[0], *shape[1:], k)
        places = (at_a, left[1], steps[0], at_b, right[1], steps[1], n, place, m * n)
        found.append((*first, *places, shape[0]))
    return found


def _laid(a: Array) -> tuple[int, int] | None:
    """How the last two axes lie, and how far lines are apart; None if no line is in one piece."""
    rows, columns = a.shape[-2:]
    row, column = a.strides[-2:]
    size = a.itemsize
    if not a.flags.aligned:
        return None
    if column == size and row % size == 0 and row >= columns * size:
        return _AS_IT_IS, row // size
    if row == size and column % size == 0 and column >= rows * size:
        return _TRANSPOSED, column // size
    return None
