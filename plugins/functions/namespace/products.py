"""Products of vectors and of arrays over several axes."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Variable, as_variable
from core.intrinsics import MatMul, axes_of, reshape, sum, transpose


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Variable:
    """The products along an axis, summed.

    >>> import numpy as np
    >>> vecdot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    variable(11.)
    """
    return sum(as_variable(x1) * x2, axis=axis)


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Variable:
    """The products over axes of both arrays: the last of x1 with the first of x2, or those named.

    >>> import numpy as np
    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    x1, x2 = as_variable(x1), as_variable(x2)
    if isinstance(axes, int):
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    over1, over2 = axes_of(tuple(axes[0]), x1.ndim), axes_of(tuple(axes[1]), x2.ndim)
    free1 = tuple([i for i in range(x1.ndim) if i not in over1])
    free2 = tuple([i for i in range(x2.ndim) if i not in over2])
    kept1, kept2 = [x1.shape[i] for i in free1], [x2.shape[i] for i in free2]
    inner = prod([x1.shape[i] for i in over1])
    left = reshape(transpose(x1, (*free1, *over1)), (prod(kept1), inner))
    right = reshape(transpose(x2, (*over2, *free2)), (inner, prod(kept2)))
    return reshape(MatMul.call(left, right), (*kept1, *kept2))
