"""Positive and negative parts side by side."""

from __future__ import annotations

from core import Domain, FunctionNode, axes, real
from plugins.functions.derived import function_of


class CReLU(FunctionNode):
    """Join the rectified parts of x and -x along an axis, which doubles its length.

    max(x, 0) is followed by max(-x, 0).

    The derivative at 0 is taken as 0.

    Args:
        x: Floating, of any shape that has the axis.
        axis: The axis to join along.

    Returns:
        The dtype of `x`, and its shape but for the axis.

    Raises:
        InvalidType: `x` is not floating, or has no such axis.

    Source: Shang et al. 2016 (arXiv:1603.05201).

    >>> import core.functions as F, numpy as np
    >>> F.crelu(np.array([[-1, 2]], "f"))
    variable([[0., 2., 1., 0.]], dtype=float32)
    """

    axis: int = 1
    domain = Domain("(...)->(...b)", x=real(-3, 3), kinks=(0,), settings={"axis": axes("x")})

    def compute(self, xp, x):
        return xp.concat([xp.maximum(x, 0), xp.maximum(-x, 0)], axis=self.axis)

    def gradient(self, xp, g, x):
        axis = self.axis % x.ndim
        half = x.shape[axis]
        before = (slice(None),) * axis
        positive = xp.where(x > 0, g[(*before, slice(0, half), ...)], 0)
        return positive - xp.where(x < 0, g[(*before, slice(half, 2 * half), ...)], 0)


crelu = function_of(CReLU, "crelu")
