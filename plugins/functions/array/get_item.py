"""Parts of an array: taken, added to, and replaced."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_array, choice
from core.typing import Array, Index
from plugins.functions.array.broadcast import SumTo


class GetItem(FunctionNode):
    """x[slices], indexed as in NumPy: numbers, slices, None, ..., arrays of integers or truth."""

    slices: Any
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"slices": choice(lambda shapes: _slicings(shapes["x"]))},
    )

    def compute(self, xp, x):
        try:
            return x[self.slices]
        except IndexError as error:
            return _with_all_axes(x, self.slices, error)

    def gradient(self, xp, g):
        return ScatterAdd(self.slices, self.input_shape(0)).evaluate(g)


class ScatterAdd(FunctionNode):
    """Zeros of a shape with x added where an index says, as often as it says: GetItem's adjoint."""

    slices: Any
    shape: tuple[int, ...]
    wide = True

    def compute(self, xp, x):
        full = xp.zeros(self.shape, dtype=x.dtype, device=x.device)
        return self.backend.scatter_add(full, self.slices, x)

    def gradient(self, xp, g):
        return GetItem(self.slices).evaluate(g)


class SetItem(FunctionNode):
    """A copy of x with a value where an index says, which names no place twice.

    The gradient there is that of the value, and elsewhere that of x.
    """

    slices: Any
    domain = Domain(
        "(...x),(...v)->(...x)",
        x=anything(),
        value=anything(),
        settings={"slices": choice(..., (0, ...), (slice(None, None, 2), ...))},
        dims={"...x": (1, 3), "...v": lambda sizes: sizes["...x"][1:]},
        empty=False,
    )

    def compute(self, xp, x, value):
        y = self.backend.copy(x)
        return self.backend.put(y, self.slices, value)

    def gradient_x(self, xp, g):
        zero = xp.zeros((), dtype=g.dtype, device=g.device)
        return SetItem(self.slices).evaluate(g, zero)

    def gradient_value(self, xp, g):
        return SumTo(self.input_shape(1)).evaluate(GetItem(self.slices).evaluate(g))


def get_item(x: Array, slices: Index) -> Variable:
    """Take the part of `x` that an index selects: `x[slices]`.

    An element that is named several times gets the sum of the gradients.

    Args:
        x: Of any shape and dtype.
        slices: Integers, slices, None, an ellipsis, arrays of integers or of truth values, or a
            tuple of these, as in NumPy.

    Returns:
        The dtype of `x`.

    Raises:
        IndexError: The index does not fit the shape.

    >>> import core.functions as F, numpy as np
    >>> F.get_item(np.arange(4, dtype="f"), slice(1, 3))
    variable([1., 2.], dtype=float32)
    """
    if isinstance(slices, tuple):
        slices = tuple([as_array(s) for s in slices])
    return GetItem.call(x, as_array(slices))


def _with_all_axes(x: Any, slices: Any, error: IndexError) -> Any:
    """x[slices, ...]: the standard leaves open what an index of fewer axes than x has means."""
    parts = slices if isinstance(slices, tuple) else (slices,)
    if not any([part is ... for part in parts]):
        with suppress(IndexError):
            return x[(*parts, ...)]
    raise IndexError(f"GetItem: the index does not fit the shape {x.shape}: {error}") from error


def _slicings(shape: tuple[int, ...]) -> list[Any]:
    if not shape or 0 in shape:
        return [...]
    return [..., (0, ...), (slice(None, None, 2), ...), (None, ...), (slice(1), ...)]
