"""Accuracy of binary classification."""

from __future__ import annotations

from core import Domain, FunctionNode, integers, real
from plugins.functions.derived import function_of


class BinaryAccuracy(FunctionNode):
    """Compute the share of scores on the right side of 0; without gradient.

    Args:
        y: Scores, floating, of any shape; 0 and more mean the label 1.
        t: Integers of the shape of `y`: labels 0 and 1, or -1 for what does not count.

    Returns:
        No axes, the dtype of `y`; 0 where no score counts.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.binary_accuracy(np.array([2, -1, 3], "f"), np.array([1, 1, -1]))
    variable(0.5, dtype=float32)
    """

    wide = True
    domain = Domain(
        "(...),(...)->()",
        y=real(-3, 3),
        t=integers(-1, 2),
        leave_out={"gradient": "not differentiable"},
    )

    def compute(self, xp, y, t):
        counted = t != -1
        right = ((y >= 0) == (t == 1)) & counted
        count = xp.sum(xp.astype(counted, y.dtype))
        return xp.sum(xp.astype(right, y.dtype)) / xp.maximum(count, xp.ones_like(count))


binary_accuracy = function_of(BinaryAccuracy, "binary_accuracy")
