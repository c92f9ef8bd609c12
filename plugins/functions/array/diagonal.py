"""Diagonals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.axis_order import known_axes, moveaxis
from plugins.functions.array.get_item import GetItem
from plugins.functions.array.reshape import Reshape


@checked
def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Take the diagonal over two axes, as the last axis.

    Args:
        x: Of at least two axes and any dtype.
        offset: Which diagonal: 0 the main one, positive above it, negative below.
        axis1: The axis of the rows.
        axis2: The axis of the columns.

    Returns:
        The dtype of `x`; the other axes of `x`, then the diagonal.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: Both axes are the same.

    >>> import core.functions as F, numpy as np
    >>> F.diagonal(np.array([[1, 2], [3, 4]], "f"))
    variable([1., 4.], dtype=float32)
    >>> F.diagonal(np.array([[1, 2], [3, 4]], "f"), offset=1)
    variable([2.], dtype=float32)
    """
    x = as_variable(x)
    rows, columns = known_axes("diagonal", (axis1, axis2), x.ndim)
    if (rows, columns) != (x.ndim - 2, x.ndim - 1):
        x = moveaxis(x, (rows, columns), (-2, -1))
    flat, places = _places(x.shape, offset)
    return GetItem.call(Reshape.call(x, flat), places)


@lru_cache(256)
def _places(shape: tuple[int, ...], offset: int) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The shape of flattened matrices, in which the elements of a diagonal stand m + 1 apart."""
    n, m = shape[-2:]
    first = offset if offset >= 0 else -offset * m
    count = max(min(n, m - offset) if offset >= 0 else min(n + offset, m), 0)
    end = first + (count - 1) * (m + 1) + 1
    return (*shape[:-2], n * m), (..., slice(first, end, m + 1) if count else slice(0))
