"""Logarithms of running sums of exponentials, in one pass along each row.

The greatest element so far is kept beside the sum of exponentials of what is less by, in float64:
the formula joins neighbours, then pairs, then fours, each time by an exponential and a logarithm.
"""

from __future__ import annotations

from functools import partial
from math import inf, log
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import FLOAT, ONE, ZERO, exp
from backends.numpy_backend.kernels.compiler import (
    MANY,
    Read2,
    Write2,
    compiled,
    contiguous,
    large,
    number,
    suits,
)

PART = 1 << 14  # elements of a part
_NONE = number(-inf)


@compiled
def _along_rows(x: Read2, y: Write2, start: int, stop: int) -> None:
    for r in range(start, stop):
        top, total = _NONE, np.float64(0.0)
        for i in range(x.shape[1]):
            v = x[r, i]
            if v <= top:
                total += exp(ZERO if v == top else v - top)  # of two infinities there is none
            else:
                total = total * exp(top - v) + ONE
                top = v
            y[r, i] = FLOAT(top + log(total))


@partial(large, calls=MANY)
def logcumsumexp(f: Any, xp: Any, x: Any) -> Any:
    """Along an axis, which is brought to the end, or all elements."""
    if not suits(x, calls=MANY):
        return NotImplemented
    rows = x.reshape(-1) if f.axis is None else np.moveaxis(x, f.axis, -1)
    (flat,) = contiguous(rows)
    n, y = rows.shape[-1], np.empty_like(flat)
    shape = -1, n
    parallel.divide(_along_rows, x.size // n, -(-PART // n), flat.reshape(shape), y.reshape(shape))
    return y if f.axis is None else np.moveaxis(y.reshape(rows.shape), -1, f.axis)
