"""Products over axes."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, axes, choice, real
from core.typing import Axis
from plugins.functions.axes import axes_of, count_along, kept_shape
from plugins.functions.derived import function_of


class Prod(FunctionNode):
    """Multiply over axes; the gradient is also right where elements are 0.

    Each element's derivative is the product of the others.

    Args:
        x: Floating, of any shape. Floats of 16 bits are multiplied in float32.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.prod(np.array([[1, 2], [3, 4]], "f"), axis=1)
    variable([ 2., 12.], dtype=float32)
    """

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(-2, 2),
        settings={"axis": axes("x", many=True, none=True), "keepdims": choice(False, True)},
    )

    def compute(self, xp, x):
        return xp.prod(x, axis=self.axis, dtype=x.dtype, keepdims=self.keepdims)

    def gradient(self, xp, g, x):
        shape, ndim = x.shape, x.ndim
        reduced = axes_of(self.axis, ndim)
        order = (*[i for i in range(ndim) if i not in reduced], *reduced)
        kept = tuple([shape[i] for i in order[: ndim - len(reduced)]])
        rows = xp.reshape(xp.permute_dims(x, order), (*kept, count_along(shape, self.axis)))
        others = xp.reshape(_others(xp, rows), tuple([shape[i] for i in order]))
        back = sorted(range(ndim), key=order.__getitem__)
        return xp.reshape(g, kept_shape(shape, self.axis)) * xp.permute_dims(others, tuple(back))


def _others(xp: Any, x: Any) -> Any:
    """The product of all but one along the last axis, for each one, without division.

    Pairs are multiplied, the products treated likewise, and what that gives for a pair is
    multiplied by the partner: n multiplications in log n steps, right where there are zeros.
    """
    n = x.shape[-1]
    if n < 2:
        return xp.ones_like(x)
    half = n // 2
    left, right, odd = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    outside = _others(xp, xp.concat([left * right, odd], axis=-1))
    pairs = outside[..., :half]
    return xp.concat([pairs * right, pairs * left, outside[..., half:]], axis=-1)


prod = function_of(Prod, "prod")
