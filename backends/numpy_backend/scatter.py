"""Sums into places of a NumPy array.

`numpy.add.at` is quick only along one flat axis, so whole rows are added element by element there:
five times faster for the rows of an embedding. A compiled loop adds rows as they are. All take the
same order, and so give the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.typing import Array

SMALL = 256  # below so many elements, setting up costs more than it saves


def scatter_add(a: Array, index: Any, values: Any) -> None:
    """`a[index] += values` in place, repeated places added to as often as they are named."""
    if _is_basic(index):
        a[index] += values
    elif not a.flags.writeable:  # numpy.add.at would write all the same
        raise ValueError("scatter_add: expected an array to add to, got a read-only one. Copy it.")
    elif not _adds_rows(a, index, values):
        np.add.at(a, index, values)


def _is_basic(index: Any) -> bool:
    """Whether an index is made of integers, slices, None and the ellipsis: no place comes twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice) or _is_integer(part)
        for part in parts
    )


def _is_integer(part: Any) -> bool:
    return not isinstance(part, bool) and hasattr(part, "__index__") and not hasattr(part, "shape")


def _adds_rows(a: Array, index: Any, values: Any) -> bool:
    """Add whole rows, the index being one array of integers within bounds; say whether it was."""
    if not isinstance(index, np.ndarray) or index.dtype.kind not in "iu" or a.ndim < 2:
        return False
    if not a.flags.c_contiguous or index.size * a[0:1].size < SMALL:
        return False
    low, high = int(index.min()), int(index.max())
    if low < -len(a) or high >= len(a):
        return False
    width = a[0].size
    rows = index.astype(np.intp, copy=low < 0)  # int8 has no number for the last of 200 rows
    if low < 0:
        rows[rows < 0] += len(a)
    spread = np.broadcast_to(values, index.shape + a.shape[1:])
    if _in_loop(a, spread):
        from backends.numpy_backend.kernels.compiled.scatter import add_rows

        add_rows(a.reshape(len(a), -1), rows.reshape(-1), np.asarray(spread, a.dtype))
        return True
    places = rows.reshape(-1, 1).astype(np.intp) * width + np.arange(width)
    np.add.at(a.reshape(-1), places.reshape(-1), np.asarray(spread, a.dtype).reshape(-1))
    return True


def _in_loop(a: Array, values: Array) -> bool:
    """Whether to add by a compiled loop: there are loops, and values enough of a table's own."""
    from backends.numpy_backend.kernels import compiler

    fits = values.size >= compiler.SMALL and a.dtype in compiler.FLOATS
    return fits and compiler.available() and not np.may_share_memory(a, values)
