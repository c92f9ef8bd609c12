"""Products of matrices by BLAS's own function, so that threads share them as they share loops."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from backends.numpy_backend import blas
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiler import Write1, compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.typing import Array

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
    axis: int,
    unit: int,
    start: int,
    stop: int,
) -> None:
    """Products in `c`: matrices, rows or columns from the unit `start` on; a and b are addresses.

    Steps are from one matrix to the next, all in bytes, `lda` and `ldb` in elements.
    """
    first, last = start * unit, stop * unit
    if axis == -3:
        for i in range(first, last):
            at_a, at_b = a + i * a_step, b + i * b_step
            _gemm(c, function, left, right, m, n, k, at_a, lda, at_b, ldb, n, i * m * n)
    elif axis == -2:
        at = a + first * c.itemsize * (lda if left == _AS_IT_IS else 1)
        rows = min(last, m) - first
        for i in range(c.size // max(m * n, 1)):
            at_a, at_b = at + i * a_step, b + i * b_step
            place = (i * m + first) * n
            _gemm(c, function, left, right, rows, n, k, at_a, lda, at_b, ldb, n, place)
    else:
        at = b + first * c.itemsize * (1 if right == _AS_IT_IS else ldb)
        columns = min(last, n) - first
        for i in range(c.size // max(m * n, 1)):
            at_a, at_b = a + i * a_step, at + i * b_step
            _gemm(
                c, function, left, right, m, columns, k, at_a, lda, at_b, ldb, n, i * m * n + first
            )


def available(dtype: np.dtype[Any]) -> bool:
    """Whether products of a dtype can be shared so."""
    return compiler.available() and blas.gemm(dtype) is not None


def arguments(a: Array, b: Array, out: Array, axis: int, unit: int) -> tuple[Any, ...] | None:
    """Arguments of `multiply` for all of the products; None if factors do not lie as BLAS asks.

    Args:
        a: Matrices (..., m, k), with one axis before at most.
        b: Matrices (..., k, n), likewise.
        out: The products, contiguous.
        axis: -3, -2 or -1: along which of `out` it is divided.
        unit: Of so many.
    """
    left = _laid(a.shape[-2:], a.strides[-2:], a.itemsize)
    right = _laid(b.shape[-2:], b.strides[-2:], b.itemsize)
    if left is None or right is None or out.ndim > 3:
        return None
    if not (a.flags.aligned and b.flags.aligned):
        return None
    (m, n), size = out.shape[-2:], out.shape[axis]
    return (
        *(out.reshape(-1), blas.gemm(out.dtype), left[0], right[0], m, n, a.shape[-1]),
        *(a.__array_interface__["data"][0], left[1], _apart(a)),
        *(b.__array_interface__["data"][0], right[1], _apart(b)),
        *(axis, unit, 0, -(-size // unit)),
    )


def _apart(a: Array) -> int:
    """How far its matrices are apart."""
    return a.strides[0] if a.ndim > 2 and len(a) > 1 else 0


@lru_cache(4096)
def _laid(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int] | None:
    """How a matrix lies, and how far lines are apart; None if no line is in one piece."""
    (rows, columns), (row, column) = shape, strides
    if column == size and row >= columns * size and row % size == 0:
        return _AS_IT_IS, row // size
    if row == size and column >= rows * size and column % size == 0:
        return _TRANSPOSED, column // size
    return None
