"""Parts of an array."""

from __future__ import annotations

from core import Variable
from core.ops import intrinsics
from core.ops.intrinsics import GetItem as GetItem
from core.typing import Array, Index


def get_item(x: Array, slices: Index) -> Variable:
    """Take the part of `x` that an index selects: `x[slices]`.

    An element that is named several times gets the sum of the gradients.

    Args:
        x: Of any shape and dtype.
        slices: Integers, slices, None, an ellipsis, arrays of integers or of truth values, or a
            tuple of these, as in NumPy.

    Returns:
        The dtype of `x`.

    Raises:
        IndexError: The index does not fit the shape.

    >>> import core.functions as F, numpy as np
    >>> F.get_item(np.arange(4, dtype="f"), slice(1, 3))
    variable([1., 2.], dtype=float32)
    """
    return intrinsics.getitem(x, slices)
