"""Greatest and least elements, and products, of rows that lie in one piece.

NumPy begins anew for each row, and multiplies one element after the other. Products are taken in
the order of the machine's vectors, of float32 in float64 and rounded once.
"""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import FLOAT, INTEGER
from backends.numpy_backend.kernels.compiled.loss.softmax import _LOWEST, _turned
from backends.numpy_backend.kernels.compiled.math.running import WIDE
from backends.numpy_backend.kernels.compiler import (
    FLOATS,
    SMALL,
    SUMS,
    Array,
    Read2,
    Real,
    Write1,
    compiled,
    number,
)

PART = 1 << 17  # elements of a part
LONG = 1024  # elements of a row, with more of which NumPy is as fast with extremes
ROWS = 128  # and with fewer rows
NAN = number(float("nan"))


@compiled
def _extremes(x: Read2, sign: Real, y: Write1, start: int, stop: int) -> None:
    """The greatest elements, or with a sign of -1 the least; NaN where there is one."""
    for r in range(start, stop):
        row, top, unknown = x[r], INTEGER(_LOWEST), 0
        for i in range(row.size):
            key = _turned(FLOAT(row[i] * sign).view(INTEGER))
            top = key if key > top else top
        for i in range(row.size):
            unknown |= row[i] != row[i]
        y[r] = NAN if unknown else INTEGER(_turned(top)).view(FLOAT) * sign


@compiled(fastmath=SUMS)
def _products(x: Read2, y: Write1, start: int, stop: int) -> None:
    for r in range(start, stop):
        row, total = x[r], WIDE(1.0)
        for i in range(row.size):
            total *= row[i]
        y[r] = FLOAT(total)


def extremes(a: Array, axis: Any, options: Any, sign: int) -> Array | None:
    """The greatest elements along last axes, or the least; None for other arrays.

    And for few rows or long ones, with which NumPy is as fast.
    """
    if a.size < ROWS * a.shape[-1]:
        return None
    number = FLOATS[a.dtype.itemsize == 8].type(sign)
    return _reduced(_extremes, a, axis, options, number, longest=LONG)


def products(a: Array, axis: Any, options: Any) -> Array | None:
    """Products along last axes; None for other arrays."""
    return _reduced(_products, a, axis, options)


def _reduced(
    loop: Any, a: Array, axis: Any, options: Any, *more: Any, longest: float = inf
) -> Array | None:
    found = as_rows(a, axis, options) if a.size >= SMALL else None
    if found is None or found[0].shape[1] > longest:
        return None
    rows, shape = found
    y = np.empty(len(rows), a.dtype)
    parallel.divide(loop, len(rows), -(-PART // rows.shape[1]), rows, *more, y)
    return y.reshape(shape)[()]


def as_rows(a: Array, axis: Any, options: Any) -> tuple[Array, tuple[int, ...]] | None:
    """Rows of what last axes hold, and the shape of what they are reduced to.

    None for arrays that are no floats or do not lie in one piece, and for other axes.
    """
    axes, ndim = axis if type(axis) is tuple else (axis,), a.ndim
    if axes[-1:] not in ((None,), (-1,), (ndim - 1,)):
        return None
    kept = 0 if axis is None else ndim - len(axes)
    if kept < 0 or type(a) is not np.ndarray or a.dtype not in FLOATS:
        return None
    if not (a.flags.c_contiguous and a.flags.aligned and options.keys() <= {"keepdims"}):
        return None
    if axis is not None and not all(
        [
            type(i) is int and i in (w, w - ndim)
            for i, w in zip(axes, range(kept, ndim), strict=True)
        ]
    ):
        return None
    ones = (1,) * (ndim - kept) if options.get("keepdims") else ()
    return a.reshape(prod(a.shape[:kept]), prod(a.shape[kept:])), a.shape[:kept] + ones
