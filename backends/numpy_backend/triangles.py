"""Triangles of matrices: rows are copied as far as all of some have elements there.

NumPy's functions make a mask of the whole matrix, and choose each element by it: three to five
times as long. Here so many rows at a time are chosen from where their ends differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from backends.numpy_backend.typing import Array

ROWS = 16  # whose ends are chosen together


@lru_cache(64)
def _mask(rows: int, columns: int, k: int, lower: bool) -> Array:
    """Where element (i, j) has j - i <= k; with `lower` false where not."""
    mask = np.tri(rows, columns, k, dtype=bool)
    return mask if lower else ~mask


def _triangle(m: Any, k: int, lower: bool) -> Any:
    """The elements with j - i <= k, or all others, zeros in the place of the rest."""
    n, width = m.shape[-2:]
    zero = m.dtype.type(0)
    if n <= ROWS and width <= ROWS:
        return np.where(_mask(n, width, max(-n, min(k, width)), lower), m, zero)
    y = np.zeros(m.shape, m.dtype)
    for top in range(0, n, ROWS):
        low = min(top + ROWS, n)
        begin, end = (max(0, min(i + k, width)) for i in (top + 1, low))
        rows = slice(top, low)
        whole = (..., rows, slice(0, begin) if lower else slice(end, None))
        y[whole] = m[whole]
        if begin < end:
            part = (..., rows, slice(begin, end))
            y[part] = np.where(_mask(low - top, end - begin, k + top - begin, lower), m[part], zero)
    return y


def _of_matrices(name: str, lower: bool) -> Callable[..., Any]:
    function = getattr(np, name)

    def triangle(m: Any, /, k: int = 0) -> Any:
        if type(m) is not np.ndarray or m.ndim < 2 or m.dtype.kind not in "biufc":
            return function(m, k=k)
        return _triangle(m, k if lower else k - 1, lower)

    return triangle


TRIANGLES = {"tril": _of_matrices("tril", True), "triu": _of_matrices("triu", False)}
