"""Squared differences as a loss."""

from __future__ import annotations

from typing import Any

from core import Variable
from plugins.functions.math.squared_difference import SquaredDifference

SquaredError = SquaredDifference


def squared_error(x0: Any, x1: Any) -> Variable:
    """The squared difference of each two elements: (x0 - x1)².

    Args:
        x0: Floating, of any shape.
        x1: Of the dtype of `x0`, and a shape that broadcasts.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.squared_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable([4., 0.], dtype=float32)
    """
    return SquaredError.call(x0, x1)
