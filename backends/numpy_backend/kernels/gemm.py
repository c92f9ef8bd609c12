"""Products of matrices by BLAS's own function, called as loops are, without the interpreter."""

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
    b: int,
    ldb: int,
) -> None:
    """The product in `c` of matrices at two addresses."""
    _gemm(c, function, left, right, m, n, k, a, lda, b, ldb, n, 0)


def available(dtype: np.dtype[Any]) -> bool:
    """Whether matrices of a dtype can be multiplied so."""
    return compiler.available() and blas.gemm(dtype) is not None


def arguments(a: Array, b: Array, out: Array) -> tuple[Any, ...] | None:
    """Arguments of `multiply` for two matrices; None if they do not lie as BLAS asks."""
    left = _laid(a.shape, a.strides, a.itemsize)
    right = _laid(b.shape, b.strides, b.itemsize)
    if left is None or right is None or not (a.flags.aligned and b.flags.aligned):
        return None
    return (
        *(out.reshape(-1), blas.gemm(out.dtype), left[0], right[0], *out.shape, a.shape[1]),
        *(a.__array_interface__["data"][0], left[1]),
        *(b.__array_interface__["data"][0], right[1]),
    )


@lru_cache(4096)
def _laid(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int] | None:
    """How a matrix lies, and how far lines are apart; None if no line is in one piece."""
    (rows, columns), (row, column) = shape, strides
    if column == size and row >= columns * size and row % size == 0:
        return _AS_IT_IS, row // size
    if row == size and column >= rows * size and column % size == 0:
        return _TRANSPOSED, column // size
    return None
