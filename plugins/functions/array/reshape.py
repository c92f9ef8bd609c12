"""Changes of shape."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable, as_variable
from core.ops import intrinsics
from core.ops.intrinsics import Reshape as Reshape
from core.typing import Array


def reshape(x: Array, shape: int | Sequence[int]) -> Variable:
    """Reshape `x`; the elements stay in row-major order.

    Args:
        x: Of any shape and dtype.
        shape: The new shape; one entry may be -1, which is worked out from the rest.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: The new shape has another number of elements.

    >>> import core.functions as F, numpy as np
    >>> F.reshape(np.arange(4, dtype="f"), (2, -1))
    variable([[0., 1.],
              [2., 3.]], dtype=float32)
    """
    return intrinsics.reshape(x, shape)


def flatten(x: Array) -> Variable:
    """Put all elements along one axis, in row-major order.

    Args:
        x: Of any shape and dtype.

    Returns:
        One axis, and the dtype of `x`.

    >>> import core.functions as F, numpy as np
    >>> F.flatten(np.ones((2, 2), "f"))
    variable([1., 1., 1., 1.], dtype=float32)
    """
    x = as_variable(x)
    return intrinsics.reshape(x, (x.size,))
