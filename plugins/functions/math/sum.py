"""Sums over axes."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, anything, as_variable, axes, choice
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, Axis
from plugins.functions.array.broadcast import SumTo as SumTo
from plugins.functions.axes import axes_of
from plugins.functions.derived import function_of


class Sum(FunctionNode):
    """Sum over axes.

    Args:
        x: Of any shape. Floats of 16 bits are summed in float32.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`; of truth values, which are counted, int64.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.sum(np.array([[1, 2], [3, 4]], "f"), axis=0)
    variable([4., 6.], dtype=float32)
    """

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": axes("x", many=True, none=True), "keepdims": choice(False, True)},
    )

    def compute(self, xp, x):
        if x.dtype == xp.bool:
            x = xp.astype(x, xp.int64)
        return xp.sum(x, axis=self.axis, dtype=x.dtype, keepdims=self.keepdims)

    def gradient(self, xp, g):
        shape = self.input_shape(0)
        if not self.keepdims and g.ndim:
            kept = set(axes_of(self.axis, len(shape)))
            g = xp.reshape(g, tuple([1 if i in kept else n for i, n in enumerate(shape)]))
        return xp.broadcast_to(g, shape)


sum = function_of(Sum, "sum")


@checked
def sum_to(x: Array, shape: tuple[int, ...]) -> Variable:
    """Sum to a shape that broadcasts to that of `x`: the adjoint of `broadcast_to`.

    Args:
        x: Of any shape and dtype.
        shape: The shape of the result.

    Returns:
        The given shape, and the dtype of `x`; `x` itself if it has that shape.

    Raises:
        InvalidType: The shape does not broadcast to that of `x`.

    >>> import core.functions as F, numpy as np
    >>> F.sum_to(np.ones((2, 3), "f"), (2, 1))
    variable([[3.],
              [3.]], dtype=float32)
    """
    x = as_variable(x)
    if x.shape == shape:
        return x
    if len(shape) > x.ndim or any(
        [n not in (1, m) for n, m in zip(shape[::-1], x.shape[::-1], strict=False)]
    ):
        raise InvalidType(f"a shape that broadcasts to {x.shape}", f"{shape}", operation="sum_to")
    return SumTo.call(x, shape)
