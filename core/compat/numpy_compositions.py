"""NumPy's functions that are a few of ours, with NumPy's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import functions
from core.errors.scalars import python_number
from core.graph.fitting import is_array
from core.graph.variable import Variable, as_variable
from core.ops.operands import in_dtype_of


def _both(a: Any, b: Any) -> list[Variable]:
    """Both as Variables: arrays, numbers and lists in the dtype of the one that is."""

    def beside(x: Any, other: Any) -> Any:
        if isinstance(other, Variable) and not isinstance(x, Variable) and not is_array(x):
            return other.backend.asarray(x, other.dtype, other.device)
        return in_dtype_of(other, x)

    return [as_variable(beside(a, b)), as_variable(beside(b, a))]


def _append(arr: Any, values: Any, axis: int | None = None) -> Variable:
    parts = _both(arr, values)
    if axis is None:
        parts, axis = [functions.flatten(x) for x in parts], 0
    return functions.concat(parts, axis)


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Variable]:
    parts = python_number(indices_or_sections)
    if isinstance(parts, int):  # the first ones have one more
        if parts < 1:
            raise ValueError(f"numpy.array_split: expected one part or more, got {parts}")
        n = as_variable(ary).shape[axis]
        parts = [i * (n // parts) + min(i, n % parts) for i in range(1, parts)]
    return list(functions.split_axis(ary, parts, axis))


def _split_along(first: int) -> Callable[[Any, Any], list[Variable]]:
    def split(ary: Any, indices_or_sections: Any) -> list[Variable]:
        axis = first if as_variable(ary).ndim > 1 else 0
        return list(functions.split_axis(ary, indices_or_sections, axis))

    return split


def _at_least(ndim: int) -> Callable[..., Any]:
    def at_least(*arys: Any) -> Any:
        made = [as_variable(x) for x in arys]
        made = [x.reshape((*(1,) * (ndim - x.ndim), *x.shape)) for x in made]
        return made[0] if len(made) == 1 else tuple(made)

    return at_least


def _column_stack(tup: Any) -> Variable:
    parts = [as_variable(x) for x in tup]
    columns = [x if x.ndim > 1 else x.reshape((x.size, 1)) for x in parts]
    return functions.concat(columns, 1)


def _diag(v: Any, k: int = 0) -> Variable:
    v = as_variable(v)
    if v.ndim == 2:
        return functions.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"numpy.diag: expected one or two axes, got {v.ndim}")
    n = v.size + abs(k)
    rows = v.xp.arange(v.size, device=v.array.device)
    matrix = v.xp.zeros((n, n), dtype=v.dtype, device=v.array.device)
    return functions.scatter_add(matrix, (rows + max(-k, 0), rows + max(k, 0)), v)


def _inner(a: Any, b: Any) -> Variable:
    a, b = _both(a, b)
    return functions.tensordot(a, b, ([-1], [-1])) if a.ndim and b.ndim else a * b


def _outer(a: Any, b: Any) -> Variable:
    column, row = map(functions.flatten, _both(a, b))
    return functions.expand_dims(column, 1) * row


def _ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Variable:
    high, low = (f(a, axis=axis, keepdims=keepdims) for f in (functions.max, functions.min))
    return high - low


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    return functions.sum(functions.diagonal(a, offset, axis1, axis2), axis=-1)


COMPOSITIONS: dict[str, Callable[..., Any]] = {
    "append": _append,
    "array_split": _array_split,
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "column_stack": _column_stack,
    "diag": _diag,
    "hsplit": _split_along(1),
    "inner": _inner,
    "outer": _outer,
    "ptp": _ptp,
    "trace": _trace,
    "vsplit": _split_along(0),
}
"""By NumPy's names."""
