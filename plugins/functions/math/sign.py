"""Signs."""

from __future__ import annotations

from core import Variable
from core.ops.intrinsics import Sign as Sign
from core.typing import Array


def sign(x: Array) -> Variable:
    """Compute the sign of each element: -1, 0 or 1. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sign(np.array([-2, 0, 3], "f"))
    variable([-1.,  0.,  1.], dtype=float32)
    """
    return Sign.call(x)
