"""Signs."""

from __future__ import annotations

from core.ops.intrinsics import Sign as Sign
from plugins.functions.derived import function_of

sign = function_of(
    Sign,
    "sign",
    doc="""Compute the sign of each element: -1, 0 or 1. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sign(np.array([-2, 0, 3], "f"))
    variable([-1.,  0.,  1.], dtype=float32)
    """,
)
