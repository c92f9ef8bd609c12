"""Lengths of the examples of a batch."""

from __future__ import annotations

from core import Domain, FunctionNode, real
from plugins.functions.derived import function_of


class BatchL2NormSquared(FunctionNode):
    """Compute the squared Euclidean length of each example.

    It is the sum of squares over all axes but the first; the gradient is 2 g x.

    Args:
        x: Floating, (batch, n, ...). Floats of 16 bits are summed in float32.

    Returns:
        (batch,), and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has less than two axes.

    >>> import core.functions as F, numpy as np
    >>> F.batch_l2_norm_squared(np.array([[3, 4], [0, 1]], "f"))
    variable([25.,  1.], dtype=float32)
    """

    wide = True
    domain = Domain("(n,m,...)->(n)", x=real(-3, 3))

    def compute(self, xp, x):
        return xp.sum(x * x, axis=tuple(range(1, x.ndim)), dtype=x.dtype)

    def gradient(self, xp, g, x):
        return xp.reshape(g, (x.shape[0],) + (1,) * (x.ndim - 1)) * (2.0 * x)


batch_l2_norm_squared = function_of(BatchL2NormSquared, "batch_l2_norm_squared")
