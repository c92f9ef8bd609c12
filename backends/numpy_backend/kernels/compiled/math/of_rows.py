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
LONG = 256  # elements of a row, with more of which NumPy is as fast with extremes
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
    axes, shape = axis if type(axis) is tuple else (axis,), a.shape
    kept = len(shape) - len(axes)
    if kept < 1 or axes[-1:] not in ((-1,), (len(shape) - 1,)) or a.size < SMALL:
        return None
    if type(a) is not np.ndarray or a.dtype not in FLOATS:
        return None
    rows, n = prod(shape[:kept]), prod(shape[kept:])
    flags, wanted = a.flags, range(kept, len(shape))
    if n > longest or not (flags.c_contiguous and flags.aligned and options.keys() <= {"keepdims"}):
        return None
    if any(
        [type(i) is not int or i not in (w, w - a.ndim) for i, w in zip(axes, wanted, strict=True)]
    ):
        return None
    y = np.empty(rows, a.dtype)
    parallel.divide(loop, rows, -(-PART // n), a.reshape(rows, n), *more, y)
    return y.reshape(shape[:kept] + (1,) * (len(axes) if options.get("keepdims") else 0))
