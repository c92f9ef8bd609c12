"""Products of vectors, and the diagonals of matrices."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array, DType
from plugins.functions.array import diagonal as diagonals
from plugins.functions.array.axis_order import known_axes
from plugins.functions.array.reshape import reshape
from plugins.functions.namespace.manipulation import broadcast_arrays, roll
from plugins.functions.namespace.operators import sum as total
from plugins.functions.namespace.promotion import promoted, with_operands


@checked
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Variable:
    """The vectors at right angles to those of three elements along an axis.

    >>> import numpy as np
    >>> cross(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    variable([0., 0., 1.])
    """
    x1, x2 = broadcast_arrays(*map(as_variable, promoted(x1, x2)))
    (axis,) = known_axes("cross", axis, x1.ndim)
    if x1.shape[axis] != 3:
        raise ValueError(f"cross: expected 3 elements along axis {axis}, got {x1.shape[axis]}")
    return roll(x1, -1, axis) * roll(x2, 1, axis) - roll(x1, 1, axis) * roll(x2, -1, axis)


@with_operands
def outer(x1: Any, x2: Any, /) -> Variable:
    """All products of an element of one vector with one of the other.

    >>> import numpy as np
    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    variable([[3., 4.],
              [6., 8.]])
    """
    if (x1.ndim, x2.ndim) != (1, 1):
        raise ValueError(f"outer: expected two vectors, got {x1.ndim} and {x2.ndim} axes")
    return reshape(x1, (-1, 1)) * x2


def diagonal(x: Array, /, *, offset: int = 0) -> Variable:
    """The diagonals of matrices: the main one, or others above (`offset` > 0) or below it.

    >>> import numpy as np
    >>> diagonal(np.array([[1.0, 2.0], [3.0, 4.0]]), offset=1)
    variable([2.])
    """
    return diagonals.diagonal(x, offset, -2, -1)


def trace(x: Array, /, *, offset: int = 0, dtype: DType = None) -> Variable:
    """The sums of diagonals; integers are added in the default integer, at least.

    >>> import numpy as np
    >>> trace(np.array([[1.0, 2.0], [3.0, 4.0]]))
    variable(5.)
    """
    return total(diagonal(x, offset=offset), axis=-1, dtype=dtype)
