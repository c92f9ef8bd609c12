"""Elements by number, for each place along an axis."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, axes, integers, is_debug
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.take import take as take
from plugins.functions.labels import refuse_beyond
from plugins.functions.namespace.plain import argsort


class TakeAlongAxis(FunctionNode):
    """The element of each line along an axis at the indices of that line."""

    axis: int = -1
    domain = Domain(
        "(...x),(...i)->(...i)",
        x=anything(),
        indices=integers(0, "x.shape[axis]"),
        settings={"axis": axes("x")},
        valid="x.ndim == indices.ndim",
        dims={"...x": (1, 3), "...i": lambda sizes: sizes["...x"]},
        empty=False,
    )

    def compute(self, xp, x, indices):
        if is_debug():  # some libraries move them to the end, or around
            refuse_beyond("TakeAlongAxis", indices, self.axis, x.shape[self.axis])
        return xp.take_along_axis(x, indices, axis=self.axis)

    def gradient_x(self, xp, g, indices):
        return AddAlongAxis(self.axis, self.input_shape(0)).evaluate(g, indices)


class AddAlongAxis(FunctionNode):
    """Zeros of a shape with x added at the indices: the adjoint of TakeAlongAxis."""

    axis: int
    shape: tuple[int, ...]
    wide = True

    def compute(self, xp, x, indices):
        size = prod(self.shape)
        places = xp.reshape(xp.arange(size, device=x.device), self.shape)
        places = xp.take_along_axis(places, indices, axis=self.axis)
        full = xp.zeros((size,), dtype=x.dtype, device=x.device)
        flat, values = xp.reshape(places, (-1,)), xp.reshape(x, (-1,))
        full = self.backend.scatter_add(full, flat, values)
        return xp.reshape(full, self.shape)

    def gradient_x(self, xp, g, indices):
        return TakeAlongAxis(self.axis).evaluate(g, indices)


def take_along_axis(x: Array, indices: Any, axis: int = -1) -> Variable:
    """For each line along an axis, its elements at the indices of the corresponding line.

    >>> import numpy as np
    >>> take_along_axis(np.array([[1.0, 2.0]]), np.array([[1, 1, 0]]))
    variable([[2., 2., 1.]])
    """
    return TakeAlongAxis.call(x, indices, axis)


@checked
def sort(x: Array, axis: int = -1, descending: bool = False, stable: bool = True) -> Variable:
    """The elements in order along an axis.

    >>> import numpy as np
    >>> sort(np.array([3.0, 1.0, 2.0]))
    variable([1., 2., 3.])
    """
    x = as_variable(x)
    return take_along_axis(x, argsort(x, axis, descending, stable), axis)
