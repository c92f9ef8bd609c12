"""Means and weighted means over axes."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, as_variable, axes, choice, real
from core.errors import InvalidType
from core.errors.kinds import checked
from core.errors.removed import removed
from core.typing import Array, Axes, Axis
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.axes import axes_of, axes_within, count_along, kept_shape
from plugins.functions.math.sum import sum


class Mean(FunctionNode):
    """The mean over axes; 16-bit floats are summed in float32."""

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(-3, 3),
        settings={
            "axis": axes("x", many=True, none=True, nonempty=True),
            "keepdims": choice(False, True),
        },
        empty=False,
    )

    def compute(self, xp, x):
        return xp.mean(x, axis=self.axis, keepdims=self.keepdims)

    def gradient(self, xp, g):
        shape = self.input_shape(0)
        g = xp.reshape(g / count_along(shape, self.axis), kept_shape(shape, self.axis))
        return xp.broadcast_to(g, shape)


@removed()
def mean(
    x: Array, axis: Axes = None, weights: Array | None = None, keepdims: bool = False
) -> Variable:
    """Average over axes, weighted if weights are given: sum(w * x) / sum(w).

    Args:
        x: Floating, of any shape. Floats of 16 bits are summed in float32.
        axis: None for all axes, an int, or several.
        weights: None, or an array of the dtype of `x`, and of its shape or the shape of its axes
            `axis`, in their order.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it; an axis comes twice;
            `weights` do not fit.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[1, 2], [3, 4]], "f")
    >>> F.mean(x, axis=1)
    variable([1.5, 3.5], dtype=float32)
    >>> F.mean(x, axis=1, weights=np.array([3, 1], "f"))
    variable([1.25, 3.25], dtype=float32)
    """
    if weights is None:
        return Mean.call(x, axis, keepdims)
    return _mean(x, axis, weights, keepdims)


@checked
def _mean(x: Array, axis: Axes, weights: Array | None, keepdims: bool) -> Variable:
    """The weighted mean."""
    x, weights = as_variable(x), as_variable(weights)
    if weights.dtype == x.dtype and (widened := halves_widened(x, weights)) is not None:
        return cast(_mean(widened[0], axis, widened[1], keepdims), x.dtype)
    if weights.shape == x.shape:
        return sum(x * weights, axis, keepdims) / sum(weights, axis, keepdims)
    return sum(x * _along(x, axis, weights), axis, keepdims) / sum(weights)


def _along(x: Variable, axis: Axes, weights: Variable) -> Variable:
    """Weights of the shape of axes, made to broadcast with `x`: their axes are these, in order."""
    if axis is not None:
        axes_within("mean", axis, x.ndim)
    axes = axes_of(axis, x.ndim)
    if weights.shape != (shape := tuple([x.shape[a] for a in axes])):
        raise InvalidType(f"weights.shape == {shape}", f"{weights.shape}", operation="mean")
    ordered = weights.transpose(sorted(range(len(axes)), key=axes.__getitem__))
    return ordered.reshape([n if i in axes else 1 for i, n in enumerate(x.shape)])


@removed()
def average(
    x: Array, axis: Axes = None, weights: Array | None = None, keepdims: bool = False
) -> Variable:
    """Average over axes, weighted if weights are given; another name of `mean`.

    Args:
        x: Floating, of any shape. Floats of 16 bits are summed in float32.
        axis: None for all axes, an int, or several.
        weights: None, or an array of the dtype of `x`, and of its shape or the shape of its axes
            `axis`, in their order.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it; an axis comes twice;
            `weights` do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.average(np.array([1, 4], "f"), weights=np.array([2, 1], "f"))
    variable(2., dtype=float32)
    """
    return mean(x, axis, weights, keepdims)
