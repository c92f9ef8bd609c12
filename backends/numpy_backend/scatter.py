"""Sums into places of a NumPy array.

`numpy.add.at` is quick only along one flat axis, so whole rows are added element by element there:
five times faster for the rows of an embedding. A compiled loop adds rows as they are. All take the
same order, and so give the same bits.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.typing import Array

CALLS = 8  # of NumPy's, instead of the loop; see `compiler.suits`
SMALL = 256  # below so many elements, setting up costs more than it saves
_least, _greatest = np.minimum.reduce, np.maximum.reduce  # without the Python of methods


@cache
def _loops() -> Any:
    """The loops, imported when values are first added by one."""
    from backends.numpy_backend.kernels.compiled.array import scatter

    return scatter


def scatter_add(a: Array, index: Any, values: Any) -> None:
    """`a[index] += values` in place, repeated places added to as often as they are named."""
    parts = index if isinstance(index, tuple) else (index,)
    if all([_is_basic(part) for part in parts]) or _is_mask(index):  # no place comes twice
        a[index] += values
    elif not a.flags.writeable:  # numpy.add.at would write all the same
        raise ValueError("scatter_add: expected an array to add to, got a read-only one. Copy it.")
    elif not (_adds_rows(a, parts, values) or _adds_elements(a, index, values)):
        np.add.at(a, index, values)


_BASIC = frozenset({slice, type(None), type(...), int})


def _is_basic(part: Any) -> bool:
    """Whether it is an integer, a slice, None or the ellipsis, of which indices may be made."""
    return type(part) in _BASIC or (type(part) is not np.ndarray and _is_integer(part))


def _is_mask(index: Any) -> bool:
    return isinstance(index, np.ndarray) and index.dtype == np.bool_


def _is_integer(part: Any) -> bool:
    return not isinstance(part, bool) and hasattr(part, "__index__") and not hasattr(part, "shape")


def _one_axis(ndim: int, parts: tuple[Any, ...]) -> tuple[int, Array] | None:
    """The axis and the integers, where an index has whole axes beside one array of integers."""
    arrays = [i for i, part in enumerate(parts) if isinstance(part, np.ndarray)]
    if len(arrays) != 1 or parts[arrays[0]].dtype.kind not in "iu":
        return None
    at = arrays[0]
    if len(parts) == 1:
        return (0, parts[0]) if ndim else None
    rest = [part for part in parts if part is ...]
    whole = [part for part in parts if isinstance(part, slice) and part == slice(None)]
    if len(rest) > 1 or len(whole) + len(rest) + 1 < len(parts) or len(whole) >= ndim:
        return None
    before_it = rest and any([part is ... for part in parts[:at]])
    return (ndim - len(parts) + at if before_it else at), parts[at]


def _adds_rows(a: Array, index: tuple[Any, ...], values: Any) -> bool:
    """Add whole rows, the index being one array of integers within bounds; say whether it was."""
    found = _one_axis(a.ndim, index)
    if found is None or a.ndim < 2 or not a.flags.c_contiguous:
        return False
    axis, numbers = found
    n, before, after = a.shape[axis], a.shape[:axis], a.shape[axis + 1 :]
    width = prod(after)
    if numbers.size * prod(before) * width < SMALL:
        return False
    found_rows = _from_front(numbers, n)
    if found_rows is None:
        return False
    rows, shape = found_rows.reshape(-1), before + numbers.shape + after
    spread = values if np.shape(values) == shape else np.broadcast_to(values, shape)
    if _in_loop(a, spread):
        tables = a.reshape(prod(before), n, width)
        _loops().add_rows(tables, rows, np.asarray(spread, a.dtype))
        return True
    if before:
        rows = (np.arange(0, prod(before) * n, n)[:, None] + rows).reshape(-1)
    places = rows[:, None] * width + np.arange(width) if width > 1 else rows
    np.add.at(a.reshape(-1), places.reshape(-1), np.asarray(spread, a.dtype).reshape(-1))
    return True


def _adds_elements(a: Array, index: Any, values: Any) -> bool:
    """Add elements, the index having an array of integers within bounds for each axis."""
    whole = isinstance(index, tuple) and len(index) == a.ndim > 1 and a.flags.c_contiguous
    if not whole or not all([isinstance(p, np.ndarray) and p.dtype.kind in "iu" for p in index]):
        return False
    if max([part.size for part in index]) < SMALL:
        return False
    places: Any = 0
    for part, n in zip(index, a.shape, strict=True):
        found = _from_front(part, n)
        if found is None:
            return False
        places = places * n + found
    spread = np.broadcast_to(np.asarray(values, a.dtype), places.shape)
    np.add.at(a.reshape(-1), places.reshape(-1), spread.reshape(-1))
    return True


def _from_front(numbers: Array, n: int) -> Array | None:
    """Numbers of n places counted from the front, each in its own memory; None beyond the ends."""
    if numbers.size == 0:
        return None
    low, high = int(_least(numbers, None)), int(_greatest(numbers, None))
    if low < -n or high >= n:
        return None
    found = numbers.astype(np.intp)  # int8 has no number for the last of 200 rows
    if low < 0:
        found[found < 0] += n
    return found


def _in_loop(a: Array, values: Array) -> bool:
    """Whether to add by a compiled loop: there are loops, and values enough of a table's own."""
    fits = values.size * CALLS >= compiler.SMALL and a.dtype in compiler.FLOATS
    return fits and compiler.available() and not np.may_share_memory(a, values)
