"""Removal of axes of length 1."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, anything, axes
from core.errors import InvalidType
from core.ops.types.shapes import as_axes
from core.typing import Axis
from plugins.functions.derived import function_of


def _of_length_one(f: Any, x: Any) -> None:
    for axis in () if f.axis is None else as_axes(f.axis):
        if x.shape[axis] != 1:
            raise InvalidType(f"x.shape[{axis}] == 1", f"{x.shape[axis]} != 1")


class Squeeze(FunctionNode):
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

    axis: Axis = None
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": axes("x", many=True, none=True)},
        valid=_of_length_one,
    )

    def compute(self, xp, x):
        if self.axis is None:
            return xp.reshape(x, tuple([n for n in x.shape if n != 1]))
        return xp.squeeze(x, axis=self.axis)

    def gradient(self, xp, g):
        return xp.reshape(g, self.input_shape(0))


squeeze = function_of(Squeeze, "squeeze")
