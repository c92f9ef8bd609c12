"""x[slices] = value: written into the array, or, of a result, that of another function."""

from __future__ import annotations

from typing import Any
from weakref import ref

from core.errors.scalars import is_number
from core.graph import array_api
from core.graph.fitting import is_array
from core.graph.variable import Variable, as_array
from core.graph.variable_node import NOBODY
from core.ops.operands import as_operand
from core.registry.configuration import current_state


def setitem(x: Variable, slices: Any, value: Any) -> None:
    """x[slices] = value: written into the array, or, of a result, that of another function.

    Where no gradient is needed, the array itself is written to. Else x becomes the result of
    `SetItem`: its gradient goes to what it was computed from and to the value. A leaf would lose
    its place in the graph, and is refused.
    """
    slices = tuple(map(as_array, slices)) if isinstance(slices, tuple) else as_array(slices)
    if isinstance(value, Variable) or is_array(value):
        value = array_api.functions.cast(value, x.dtype)
    needs_grad = x.requires_grad or isinstance(value, Variable) and value.requires_grad
    if not needs_grad or not current_state().backprop:
        x.array = x.backend.put(x.array, slices, as_array(value))
        return
    if x.requires_grad and x.creator_node is None:
        raise TypeError(
            f"x[...] = value: {x.name or 'x'} is a leaf that needs a gradient, and would no "
            "longer be one. Choose with where(mask, value, x), write to a copy, or write "
            "under core.no_backprop_mode()."
        )
    value = as_operand(value, x.array) if is_number(value) else value
    _become(x, array_api.functions.SetItem.call(x, value, slices))


def _become(x: Variable, result: Variable) -> None:
    """Let x take the place of a result that nobody else has: its array, and its history."""
    for source, variable in ((x._source, None), (result._source, x)):
        if source is not None and not source.is_function:
            source._variable = NOBODY if variable is None else ref(variable)
    x._array, x._spec, x._source = result._array, result._spec, result._source
    x._constant = x._shown = None
