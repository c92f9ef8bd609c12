"""The greatest of several linear pieces."""

from __future__ import annotations

from core import Variable, as_variable
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.math.extrema import Max


@checked
def maxout(x: Array, pool_size: int, axis: int = 1) -> Variable:
    """Take the greatest of each `pool_size` consecutive elements along an axis.

    Args:
        x: Floating, of any shape that has the axis, whose length `pool_size` divides.
        pool_size: How many elements compete, at least 1.
        axis: The axis they stand along.

    Returns:
        The dtype of `x`, and its shape but for the axis, which is `pool_size` times shorter.

    Raises:
        InvalidType: `x` has no such axis, or one of another length.
        ValueError: `pool_size` is less than 1.

    Source: Goodfellow et al. 2013 (arXiv:1302.4389).

    >>> import core.functions as F, numpy as np
    >>> F.maxout(np.array([[1, 4, 3, 2]], "f"), pool_size=2)
    variable([[4., 3.]], dtype=float32)
    """
    x = as_variable(x)
    if pool_size < 1:
        raise ValueError(f"maxout: expected a pool_size of at least 1, got {pool_size}")
    _check(x.shape, pool_size, axis)
    axis %= x.ndim
    pieces = (*x.shape[:axis], x.shape[axis] // pool_size, pool_size, *x.shape[axis + 1 :])
    return Max.call(x.reshape(pieces), axis + 1)


def _check(shape: tuple[int, ...], pool_size: int, axis: int) -> None:
    error = None
    if not -len(shape) <= axis < len(shape):
        error = InvalidType(f"-x.ndim <= {axis} < x.ndim", f"x.ndim is {len(shape)}")
    elif shape[axis] % pool_size:
        remainder = shape[axis] % pool_size
        error = InvalidType(f"x.shape[{axis}] % {pool_size} == 0", f"{remainder} != 0")
    if error:
        error.operation = "maxout"
        raise error
