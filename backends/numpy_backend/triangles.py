"""Triangles of matrices: rows are copied as far as all of some have elements there.

NumPy's functions make a mask of the whole matrix, and choose each element by it: three to five
times as long. Here so many rows at a time are chosen from where their ends differ, and small
matrices as a whole, by the bits of a mask that is kept: what is not finite stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from backends.numpy_backend.typing import Array

ROWS = 16  # whose ends are chosen together
SMALL = 16384  # elements of matrices that are chosen as a whole
INTEGERS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


@lru_cache(16)
def _mask(rows: int, columns: int, k: int, lower: bool, itemsize: int) -> Array:
    """All bits where element (i, j) has j - i <= k, with `lower` false where not."""
    kept = np.tri(rows, columns, k, dtype=bool)
    return -(kept if lower else ~kept).astype(INTEGERS[itemsize])


def _chosen(m: Any, k: int, lower: bool) -> Any:
    rows, columns = m.shape[-2:]
    k = max(-rows, min(k, columns))
    mask = _mask(rows, columns, k, lower, m.itemsize)
    return (m.view(mask.dtype) & mask).view(m.dtype)


def _triangle(m: Any, k: int, lower: bool) -> Any:
    """The elements with j - i <= k, or all others, zeros in the place of the rest."""
    n, width = m.shape[-2:]
    if n * width <= SMALL:
        return _chosen(m, k, lower)
    y = np.zeros(m.shape, m.dtype)
    for top in range(0, n, ROWS):
        low = min(top + ROWS, n)
        begin, end = (max(0, min(i + k, width)) for i in (top + 1, low))
        rows = slice(top, low)
        whole = (..., rows, slice(0, begin) if lower else slice(end, None))
        y[whole] = m[whole]
        if begin < end:
            part = (..., rows, slice(begin, end))
            y[part] = _chosen(m[part], k + top - begin, lower)
    return y


def _of_matrices(name: str, lower: bool) -> Callable[..., Any]:
    function = getattr(np, name)

    def triangle(m: Any, /, k: int = 0) -> Any:
        known = type(m) is np.ndarray and m.ndim >= 2 and m.dtype.kind in "biufc"
        if not known or m.itemsize not in INTEGERS or not m.dtype.isnative:
            return function(m, k=k)
        return _triangle(m, k if lower else k - 1, lower)

    return triangle


TRIANGLES = {"tril": _of_matrices("tril", True), "triu": _of_matrices("triu", False)}
