"""The softmax."""

from __future__ import annotations

from core import Domain, FunctionNode, axes, real
from plugins.functions.derived import function_of


class Softmax(FunctionNode):
    """Compute weights that sum to 1 along an axis: exp(x_i) / sum_j exp(x_j).

    With y the result, the gradient is y (g - sum g y).

    The greatest element is subtracted first, so that nothing overflows.

    Args:
        x: Floating, of any shape that has the axis.
        axis: The axis to sum over.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.softmax(np.array([[0, 0], [1000, 0]], "f"))
    variable([[0.5, 0.5],
              [1. , 0. ]], dtype=float32)
    """

    axis: int = 1
    wide = True
    domain = Domain("(...)->(...)", x=real(-6, 6), settings={"axis": axes("x")})

    def compute(self, xp, x):
        if 0 in x.shape:
            return xp.zeros_like(x)
        y = xp.exp(x - xp.max(x, axis=self.axis, keepdims=True))
        y /= xp.sum(y, axis=self.axis, keepdims=True)
        return y

    def gradient(self, xp, g, out):
        return out * (g - xp.sum(g * out, axis=self.axis, keepdims=True))


softmax = function_of(Softmax, "softmax")
