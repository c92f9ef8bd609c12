"""Sums into places of a NumPy array.

`numpy.add.at` is quick only along one flat axis, so whole rows are added element by element there:
five times faster for the rows of an embedding. A compiled loop adds rows as they are. All take the
same order, and so give the same bits.
"""

from __future__ import annotations

from math import prod
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


def _one_axis(ndim: int, index: Any) -> tuple[int, Array] | None:
    """The axis and the integers, where an index has whole axes beside one array of integers."""
    parts = index if isinstance(index, tuple) else (index,)
    arrays = [i for i, part in enumerate(parts) if isinstance(part, np.ndarray)]
    if len(arrays) != 1 or parts[arrays[0]].dtype.kind not in "iu":
        return None
    at = arrays[0]
    rest = [part for part in parts if part is ...]
    whole = [part for part in parts if isinstance(part, slice) and part == slice(None)]
    if len(rest) > 1 or len(whole) + len(rest) + 1 < len(parts) or len(whole) >= ndim:
        return None
    before_it = rest and any([part is ... for part in parts[:at]])
    return (ndim - len(parts) + at if before_it else at), parts[at]


def _adds_rows(a: Array, index: Any, values: Any) -> bool:
    """Add whole rows, the index being one array of integers within bounds; say whether it was."""
    found = _one_axis(a.ndim, index)
    if found is None or a.ndim < 2 or not a.flags.c_contiguous:
        return False
    axis, numbers = found
    n, before, after = a.shape[axis], a.shape[:axis], a.shape[axis + 1 :]
    width = prod(after)
    if numbers.size * prod(before) * width < SMALL:
        return False
    low, high = int(numbers.min()), int(numbers.max())
    if low < -n or high >= n:
        return False
    rows = numbers.astype(np.intp)  # int8 has no number for the last of 200 rows
    if low < 0:
        rows[rows < 0] += n
    spread = np.broadcast_to(values, before + numbers.shape + after)
    rows = rows.reshape(-1)
    if before:
        rows = (np.arange(0, prod(before) * n, n)[:, None] + rows).reshape(-1)
    if width > 1 and _in_loop(a, spread):
        from backends.numpy_backend.kernels.compiled.scatter import add_rows

        add_rows(a.reshape(-1, width), rows, np.asarray(spread, a.dtype))
        return True
    places = rows[:, None] * width + np.arange(width) if width > 1 else rows
    np.add.at(a.reshape(-1), places.reshape(-1), np.asarray(spread, a.dtype).reshape(-1))
    return True


def _in_loop(a: Array, values: Array) -> bool:
    """Whether to add by a compiled loop: there are loops, and values enough of a table's own."""
    from backends.numpy_backend.kernels import compiler

    fits = values.size >= compiler.SMALL and a.dtype in compiler.FLOATS
    return fits and compiler.available() and not np.may_share_memory(a, values)
