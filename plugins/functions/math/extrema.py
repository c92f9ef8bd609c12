"""The greatest and the least element along axes."""

from __future__ import annotations

from core import Domain, FunctionNode, axes, choice, real
from core.typing import Axis
from plugins.functions.axes import kept_shape
from plugins.functions.derived import function_of


class _Extremum(FunctionNode):
    """One element along axes; every element that equals it gets the gradient."""

    axis: Axis = None
    keepdims: bool = False
    domain = Domain(
        "(...)->(...b)",
        x=real(-3, 3, distinct=True),
        settings={
            "axis": axes("x", many=True, none=True, nonempty=True),
            "keepdims": choice(False, True),
        },
        empty=False,
    )

    def gradient(self, xp, g, x, out):
        kept = kept_shape(x.shape, self.axis)
        chosen = x == xp.reshape(out, kept)
        return xp.where(chosen, xp.reshape(g, kept), 0)


class Max(_Extremum):
    """Find the greatest element over axes; NaN if there is one.

    Each of several equal maxima gets the whole gradient.

    Args:
        x: Floating, of any shape.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.max(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([2., 4.], dtype=float32)
    """

    def compute(self, xp, x):
        return xp.max(x, axis=self.axis, keepdims=self.keepdims)


class Min(_Extremum):
    """Find the least element over axes; NaN if there is one.

    Each of several equal minima gets the whole gradient.

    Args:
        x: Floating, of any shape.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.min(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([1., 3.], dtype=float32)
    """

    def compute(self, xp, x):
        return xp.min(x, axis=self.axis, keepdims=self.keepdims)


max = function_of(Max, "max")


min = function_of(Min, "min")
