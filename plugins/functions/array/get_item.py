"""Parts of an array: taken, added to, and replaced."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import Any

import core
from core import Domain, FunctionNode, Variable, anything, as_array, choice
from core.arrays.backend import host
from core.arrays.backend import of as one_backend
from core.arrays.scatter import native_place
from core.errors.scalars import is_number, python_number
from core.graph.fitting import is_array
from core.graph.moving import become
from core.ops.operands import as_operand, beside_traced
from core.typing import Array, Index
from plugins.functions.array.broadcast import SumTo
from plugins.functions.array.cast import cast
from plugins.functions.array.where import Where
from plugins.functions.labels import refuse_beyond


class GetItem(FunctionNode):
    """x[slices], indexed as in NumPy: numbers, slices, None, ..., arrays of integers or truth."""

    slices: Any
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"slices": choice(lambda shapes: _slicings(shapes["x"]))},
    )

    def compute(self, xp, x):
        _refuse_outside("GetItem", self.backend, x, self.slices)
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
    """A copy of x with a value where an index says; of a place named twice the last one counts.

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
        _refuse_outside("SetItem", self.backend, x, self.slices)
        y = self.backend.copy(x)
        return self.backend.put(y, self.slices, value)

    def gradient_x(self, xp, g):
        zero = xp.zeros((), dtype=g.dtype, device=g.device)
        return SetItem(self.slices).evaluate(g, zero)

    def gradient_value(self, xp, g):
        taken = GetItem(self.slices).evaluate(g)
        if _may_name_twice(self.slices):  # what another value has replaced is in no result
            taken = Where().evaluate(self._stays(g, taken.shape), taken, xp.zeros_like(taken))
        return SumTo(self.input_shape(1)).evaluate(taken)

    def _stays(self, g: Any, shape: tuple[int, ...]) -> Any:
        """Whether each element of the value is the last one that is written to its place."""
        backend, place = self.backend, native_place(as_array(g))
        numbers = backend.xp.reshape(backend.xp.arange(prod(shape), device=place), shape)
        found = backend.xp.zeros(self.input_shape(0), dtype=numbers.dtype, device=place)
        found = backend.put(found, self.slices, numbers)
        return GetItem(self.slices).evaluate(found) == numbers

    @staticmethod
    def assign(x: Variable, slices: Any, value: Any) -> None:
        """x[slices] = value: written into the array, or, of a result, that of another function.

        Where no gradient is needed, the array itself is written to. Otherwise x becomes the result
        of this operation: its gradient goes to what it was computed from and to the value. A leaf
        would lose its place in the graph, and is refused.
        """
        slices = _plain(slices)
        if is_number(value):
            value = python_number(value)  # NumPy's scalars are unknown to other libraries
        elif isinstance(value, Variable) or is_array(value):
            x_array, value = beside_traced((x.array, value))
            one_backend(x_array, value)
            value = cast(value, x.dtype)
        needs_grad = x.requires_grad or (isinstance(value, Variable) and value.requires_grad)
        if not needs_grad or not core.config.enable_backprop:
            _refuse_outside("SetItem", x.backend, x.array, slices)
            x.array = x.backend.put(x.array, slices, as_array(value))
            return
        if x.requires_grad and x.creator_node is None:
            raise TypeError(
                f"x[...] = value: {x.name or 'x'} is a leaf that needs a gradient, and would no "
                "longer be one. Choose with where(mask, value, x), write to a copy, or write "
                "under core.no_backprop_mode()."
            )
        value = as_operand(value, x.array) if is_number(value) else value
        become(x, SetItem.call(x, value, slices))


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
    return GetItem.call(x, _plain(slices))


def _plain(slices: Any) -> Any:
    """An index of arrays, where it has Variables."""
    return tuple(map(as_array, slices)) if isinstance(slices, tuple) else as_array(slices)


def _may_name_twice(slices: Any) -> bool:
    """Whether there are arrays or lists of integers: a mask names each place once."""
    parts = slices if isinstance(slices, tuple) else (slices,)
    arrays = [part for part in parts if is_array(part) and part.ndim]
    named = [part for part in arrays if one_backend(part).kind(part.dtype) != "b"]
    return bool(named) or any([isinstance(part, list) for part in parts])


def _refuse_outside(operation: str, backend: Any, x: Any, slices: Any) -> None:
    """Raise IndexError for numbers beyond an axis, which some libraries move to its end, or around.

    Those in arrays are looked at in debug mode alone: to look may be to wait for a device.
    """
    if backend is host():
        return
    parts = slices if isinstance(slices, tuple) else (slices,)
    if any([is_array(part) or isinstance(part, list) for part in parts]):
        if core.is_debug():
            _refuse_beyond(operation, x.shape, parts)
        return
    if not any([type(part) is int for part in parts]):
        return
    shown = host().xp.broadcast_to(host().xp.zeros((), bool), tuple(x.shape))
    try:
        shown[slices]
    except IndexError as error:
        raise IndexError(f"{operation}: {error}") from None


def _refuse_beyond(operation: str, shape: Any, parts: Sequence[Any]) -> None:
    parts = [host().asarray(part) if isinstance(part, list) else part for part in parts]
    axis, left = 0, len(shape) - sum(map(_axes, parts))
    for part in parts:
        if is_array(part) and axis < len(shape):
            refuse_beyond(operation, part, axis, shape[axis])
        axis += left if part is ... else _axes(part)


def _axes(part: Any) -> int:
    """How many axes a part of an index is for: a mask has as many as it has itself."""
    if is_array(part) and one_backend(part).kind(part.dtype) == "b":
        return int(part.ndim)
    return int(part is not None and part is not ...)


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
