"""Elements along an axis by number."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, axes, integers, is_debug
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.axis_order import known_axes
from plugins.functions.array.reshape import reshape
from plugins.functions.labels import refuse_beyond


class Take(FunctionNode):
    """The elements of x along an axis at the indices; the gradient is added up there."""

    axis: int = 0
    domain = Domain(
        "(...),(k)->(...b)",
        x=anything(),
        indices=integers(0, "x.shape[axis]"),
        settings={"axis": axes("x")},
    )

    def compute(self, xp, x, indices):
        if is_debug():  # some libraries move them to the end, or around
            refuse_beyond("Take", indices, self.axis, x.shape[self.axis])
        return xp.take(x, indices, axis=self.axis)

    def gradient_x(self, xp, g, indices):
        return AddTaken(self.axis, self.input_shape(0)).evaluate(g, indices)


class AddTaken(FunctionNode):
    """Zeros of a shape with x added along an axis at the indices: the adjoint of Take."""

    axis: int
    shape: tuple[int, ...]
    wide = True

    def compute(self, xp, x, indices):
        rows = xp.moveaxis(x, self.axis, 0)
        kept = rows.shape[1:]
        n = self.shape[self.axis]
        full = xp.zeros((n, prod(kept)), dtype=x.dtype, device=x.device)
        rows = xp.reshape(rows, (rows.shape[0], prod(kept)))
        full = self.backend.scatter_add(full, indices, rows)
        return xp.moveaxis(xp.reshape(full, (n, *kept)), 0, self.axis)

    def gradient_x(self, xp, g, indices):
        return Take(self.axis).evaluate(g, indices)


@checked
def take(x: Array, indices: Any, /, *, axis: int | None = None) -> Variable:
    """Take elements along an axis by their indices, with the signature of the array standard.

    >>> import numpy as np
    >>> take(np.array([1, 2, 3], "f"), np.array([2, 0]), axis=0)
    variable([3., 1.], dtype=float32)
    """
    x, indices = as_variable(x), as_variable(indices)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: expected an axis, as x has {x.ndim} of them")
        axis = 0
    (axis,) = known_axes("take", axis, x.ndim)
    if indices.ndim == 1:
        return Take.call(x, indices, axis=axis)
    taken = Take.call(x, reshape(indices, (indices.size,)), axis=axis)
    return reshape(taken, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))
