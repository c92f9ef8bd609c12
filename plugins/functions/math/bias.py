"""Sums along some axes."""

from __future__ import annotations

from core import Variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.math.alongside import alongside
from plugins.functions.math.arithmetic import Add


@checked
def bias(x: Array, y: Array, axis: int = 1) -> Variable:
    """Add `y` to `x` along some of its axes.

    Args:
        x: Of any shape.
        y: Of the dtype of `x`, and the shape of its axes from `axis` on, as many as `y` has.
        axis: The first of these axes.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.bias(np.zeros((2, 3), "f"), np.array([1, 2], "f"), axis=0)
    variable([[1., 1., 1.],
              [2., 2., 2.]], dtype=float32)
    """
    return Add.call(x, alongside("bias", x, y, axis))
