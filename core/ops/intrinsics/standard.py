"""The functions behind operators and methods of Variables: an operation, and what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from core.errors.scalars import is_number, is_whole
from core.graph.variable import Variable, as_array, as_variable, wrap
from core.graph.variable_node import NOBODY
from core.ops.intrinsics.broadcasting import BroadcastTo
from core.ops.intrinsics.casting import Cast, cast, is_complex, refuse_complex
from core.ops.intrinsics.indexing import GetItem, SetItem
from core.ops.intrinsics.products import MatMul
from core.ops.intrinsics.shapes import Reshape, Transpose
from core.ops.operands import as_operand
from core.registry.configuration import current_state


def getitem(x: Any, slices: Any) -> Variable:
    """x[slices]; indices that are Variables are taken as their arrays."""
    if isinstance(slices, tuple):
        slices = tuple([as_array(s) for s in slices])
    return GetItem.call(x, as_array(slices))


def setitem(x: Variable, slices: Any, value: Any) -> None:
    """x[slices] = value: written into the array, or, of a result, that of another function.

    Where no gradient is needed, the array itself is written to. Else x becomes the result of
    `SetItem`: its gradient goes to what it was computed from and to the value. A leaf would lose
    its place in the graph, and is refused.
    """
    slices = tuple(map(as_array, slices)) if isinstance(slices, tuple) else as_array(slices)
    if not is_complex(x):
        refuse_complex("x[...] = value", value)
    needs_grad = any([isinstance(v, Variable) and v.requires_grad for v in (x, value)])
    if not needs_grad or not current_state().backprop:
        x.array[slices] = as_array(value)
        return
    if x.requires_grad and x.creator_node is None:
        raise TypeError(
            f"x[...] = value: {x.name or 'x'} is a leaf that needs a gradient, and would no "
            "longer be one. Choose with where(mask, value, x), write to a copy, or write "
            "under core.no_backprop_mode()."
        )
    value = as_operand(value, x.array) if is_number(value) else cast(value, x.dtype)
    _become(x, SetItem.call(x, value, slices))


def _become(x: Variable, result: Variable) -> None:
    """Let x take the place of a result that nobody else has: its array, and its history."""
    for source, variable in ((x._source, None), (result._source, x)):
        if source is not None and not source.is_function:
            source._variable = NOBODY if variable is None else ref(variable)
    x._array, x._spec, x._source = result._array, result._spec, result._source
    x._constant = x._shown = None


def matmul(a: Any, b: Any) -> Variable:
    """The matrix product, vectors being rows on the left and columns on the right."""
    a, b = as_variable(a), as_variable(b)
    if a.ndim > 1 and b.ndim > 1:
        return MatMul.call(a, b)
    rows = reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    columns = reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    y = MatMul.call(rows, columns)
    *lead, n, m = y.shape
    return reshape(y, (*lead, *(n,) * (a.ndim > 1), *(m,) * (b.ndim > 1)))


def reshape(x: Any, shape: Any) -> Variable:
    """Reshape x; one entry of the shape may be -1."""
    return Reshape.call(x, (shape,) if is_whole(shape) else shape)


def transpose(x: Any, axes: Sequence[int] | None = None) -> Variable:
    """Permute the axes of x; None reverses them."""
    return Transpose.call(x, axes)


def matrix_transpose(x: Any) -> Variable:
    """Swap the last two axes of x."""
    ndim = as_variable(x).ndim
    if ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 axes, got {ndim}")
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def broadcast_to(x: Any, shape: Any) -> Variable:
    """Broadcast x to a shape."""
    x = as_variable(x)
    return x if type(shape) is tuple and x.shape == shape else BroadcastTo.call(x, shape)


def unshared(x: Variable) -> Variable:
    """A copy, which item assignment to X does not reach; differentiable."""
    return Cast.call(x, x.dtype) if x.requires_grad else wrap(x.backend.copy(x.array))
