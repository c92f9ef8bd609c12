"""The logarithm of the softmax."""

from __future__ import annotations

from core import Domain, FunctionNode, axes, real
from plugins.functions.derived import function_of


class LogSoftmax(FunctionNode):
    """Compute the logarithm of the softmax along an axis: x_i - log sum_j exp(x_j).

    With y the result, the gradient is g - exp(y) sum g.

    Exact where the logarithm of `softmax(x)` would be that of a rounded zero.

    Args:
        x: Floating, of any shape that has the axis.
        axis: The axis to sum over.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.log_softmax(np.array([[1000, 0]], "f"))
    variable([[    0., -1000.]], dtype=float32)
    """

    axis: int = 1
    wide = True
    domain = Domain("(...)->(...)", x=real(-6, 6), settings={"axis": axes("x")})

    def compute(self, xp, x):
        if 0 in x.shape:
            return xp.zeros_like(x)
        y = x - xp.max(x, axis=self.axis, keepdims=True)
        y -= xp.log(xp.sum(xp.exp(y), axis=self.axis, keepdims=True))
        return y

    def gradient(self, xp, g, out):
        return g - xp.exp(out) * xp.sum(g, axis=self.axis, keepdims=True)


log_softmax = function_of(LogSoftmax, "log_softmax")
