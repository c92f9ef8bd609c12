"""The indices of the greatest and the least element."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, axes, real
from plugins.functions.axes import count_along
from plugins.functions.derived import function_of


class _Place(FunctionNode):
    """The index of an element along an axis, or in the flattened input."""

    axis: int | None = None
    domain = Domain(
        "(...)->(...b)",
        x=real(-3, 3),
        settings={"axis": axes("x", none=True, nonempty=True)},
        empty=False,
        leave_out={"gradient": "integer-valued"},
    )

    def _in_dtype(self, xp: Any, places: Any, x: Any) -> Any:
        """The places as int32; as int64 where some would be too great for that."""
        count = count_along(x.shape, self.axis)
        return xp.astype(places, xp.int32 if count <= 1 << 31 else xp.int64)


class ArgMax(_Place):
    """Find the index of the greatest element, the first one of equals; without gradient.

    Args:
        x: Floating, of any shape.
        axis: The axis to search along; None searches the flattened array.

    Returns:
        int32, the shape of `x` without the axis; int64 for an axis of more than 2^31 elements.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.

    >>> import core.functions as F, numpy as np
    >>> F.argmax(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([1, 0], dtype=int32)
    """

    def compute(self, xp, x):
        return self._in_dtype(xp, xp.argmax(x, axis=self.axis), x)


class ArgMin(_Place):
    """Find the index of the least element, the first one of equals; without gradient.

    Args:
        x: Floating, of any shape.
        axis: The axis to search along; None searches the flattened array.

    Returns:
        int32, the shape of `x` without the axis; int64 for an axis of more than 2^31 elements.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.

    >>> import core.functions as F, numpy as np
    >>> F.argmin(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([0, 1], dtype=int32)
    """

    def compute(self, xp, x):
        return self._in_dtype(xp, xp.argmin(x, axis=self.axis), x)


argmax = function_of(ArgMax, "argmax")


argmin = function_of(ArgMin, "argmin")
