"""New axes."""

from __future__ import annotations

from core import Domain, FunctionNode, anything, axes
from plugins.functions.derived import function_of


class ExpandDims(FunctionNode):
    """Insert a new axis of length 1.

    Args:
        x: Of any shape and dtype.
        axis: Where the new axis comes to stand.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: The axis is out of range.

    >>> import core.functions as F, numpy as np
    >>> F.expand_dims(np.zeros((2, 3), "f"), 1).shape
    (2, 1, 3)
    """

    axis: int
    domain = Domain("(...)->(...b)", x=anything(), settings={"axis": axes("x", beyond=1)})

    def compute(self, xp, x):
        return xp.expand_dims(x, axis=self.axis)

    def gradient(self, xp, g):
        return xp.reshape(g, self.input_shape(0))


expand_dims = function_of(ExpandDims, "expand_dims")
