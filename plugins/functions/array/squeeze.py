"""Removal of axes of length 1."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, anything, choice
from core.ops.intrinsics import axes_of, check_axes
from core.ops.types.type_check import expect
from core.typing import Array, Axes, Axis
from plugins.functions.removed import removed


class Squeeze(FunctionNode):
    """x without some axes of length 1, or without all of them."""

    axis: Axis = None
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": choice(lambda shapes: _options(shapes["x"]))},
    )

    def check_type_forward(self, in_types):
        check_axes(self.axis, in_types[0])
        for axis in () if self.axis is None else axes_of(self.axis, len(in_types[0].shape)):
            expect(in_types[0].shape[axis] == 1)

    def compute(self, xp, x):
        if self.axis is None:
            return xp.reshape(x, tuple([n for n in x.shape if n != 1]))
        return xp.squeeze(x, axis=self.axis)

    def gradient(self, xp, g):
        return xp.reshape(g, self.input_shape(0))


def _options(shape: tuple[int, ...]) -> list[Axis]:
    ones = tuple([i for i, n in enumerate(shape) if n == 1])
    return [None, ones, *ones]


@removed()
def squeeze(x: Array, axis: Axes = None) -> Variable:
    """Remove axes of length 1.

    Args:
        x: Of any shape and dtype.
        axis: An axis, or several, each of length 1; None takes all of that length.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or one of another length.

    >>> import core.functions as F, numpy as np
    >>> F.squeeze(np.zeros((1, 2, 1), "f"), axis=0).shape
    (2, 1)
    """
    return Squeeze.call(x, axis)
