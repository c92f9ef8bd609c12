"""NumPy's functions that are a few of ours, with NumPy's arguments."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from core import functions
from core.errors.scalars import python_number
from core.graph.fitting import is_array
from core.graph.variable import Variable, as_variable
from core.ops.namespace import namespace
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


def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Variable:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _both(a, b)
    ends = functions.moveaxis(a, axisa, -1), functions.moveaxis(b, axisb, -1)
    return functions.moveaxis(namespace.linalg.cross(*ends), -1, axisc)


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


def _divmod(x1: Any, x2: Any) -> Any:
    return x1 // x2, x1 % x2


def _inner(a: Any, b: Any) -> Variable:
    a, b = _both(a, b)
    return functions.tensordot(a, b, ([-1], [-1])) if a.ndim and b.ndim else a * b


def _kron(a: Any, b: Any) -> Any:
    a, b = _both(a, b)
    ndim = max(a.ndim, b.ndim)
    shapes = [(*(1,) * (ndim - x.ndim), *x.shape) for x in (a, b)]
    a = a.reshape(tuple([n for size in shapes[0] for n in (size, 1)]))
    b = b.reshape(tuple([n for size in shapes[1] for n in (1, size)]))
    return (a * b).reshape(tuple([m * n for m, n in zip(*shapes, strict=True)]))


def _median(a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return _quantiles("median", 1)(a, 0.5, axis, keepdims=keepdims)


def _nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = as_variable(x)
    if not x.xp.isdtype(x.dtype, "real floating"):
        return x
    array, limits = x.array, x.xp.finfo(x.dtype)
    for wrong, value, default in (
        (array != array, nan, 0.0),
        (array == inf, posinf, limits.max),
        (array == -inf, neginf, limits.min),
    ):
        number = x.xp.full_like(array, float(default if value is None else value))
        x = functions.where(x.backend.asarray(wrong), number, x)
    return x


def _outer(a: Any, b: Any) -> Variable:
    a, b = _both(a, b)
    return functions.reshape(a, (a.size, 1)) * (b if b.ndim == 1 else functions.flatten(b))


def _ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Variable:
    high, low = (f(a, axis=axis, keepdims=keepdims) for f in (functions.max, functions.min))
    return high - low


def _quantiles(name: str, whole: float) -> Callable[..., Any]:
    """By sorting: between two elements the mean of both, weighted; NaN where one is."""

    def quantiles(
        a: Any,
        q: Any,
        axis: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
    ) -> Any:
        if method != "linear":
            raise TypeError(f"numpy.{name}: expected method='linear' of a Variable, got {method!r}")
        a = as_variable(a)
        over = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = [each % a.ndim for each in over]
        rest = [i for i in range(a.ndim) if i not in axes]
        shape = tuple([a.shape[i] for i in rest])
        kept = tuple([1 if i in axes else n for i, n in enumerate(a.shape)]) if keepdims else shape
        ordered = namespace.sort(functions.transpose(a, (*rest, *axes)).reshape((*shape, -1)))
        last = ordered[..., -1]

        def at(share: Any) -> Variable:
            if isinstance(share, (list, tuple)):
                return functions.stack([at(each) for each in share])
            if not 0 <= share <= whole:
                raise ValueError(f"numpy.{name}: expected q in [0, {whole}], got {share}")
            low, part = divmod(share / whole * (ordered.shape[-1] - 1), 1)
            y = ordered[..., int(low)]
            y = y * (1 - part) + ordered[..., int(low) + 1] * part if part else y
            return functions.where(a.backend.asarray(last.array == last.array), y, last)

        found = at(q.tolist() if hasattr(q, "tolist") else q)
        return found.reshape((*found.shape[: found.ndim - len(shape)], *kept))

    return quantiles


def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    m = as_variable(m)
    for _ in range(k % 4):
        m = functions.swapaxes(functions.flip(m, axes[1]), *axes)
    return m


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    return functions.sum(functions.diagonal(a, offset, axis1, axis2), axis=-1)


def _trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Variable:
    y = functions.moveaxis(as_variable(y), axis, -1)
    if x is None:
        return functions.sum(y[..., 1:] + y[..., :-1], axis=-1) * (dx / 2)
    y, x = _both(y, x)
    x = x if x.ndim == 1 else functions.moveaxis(x, axis, -1)
    return functions.sum((x[..., 1:] - x[..., :-1]) * (y[..., 1:] + y[..., :-1]), axis=-1) / 2


def _vdot(a: Any, b: Any) -> Any:
    return namespace.vecdot(*map(functions.flatten, _both(a, b)))


COMPOSITIONS: dict[str, Callable[..., Any]] = {
    "append": _append,
    "array_split": _array_split,
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "column_stack": _column_stack,
    "cross": _cross,
    "diag": _diag,
    "divmod": _divmod,
    "hsplit": _split_along(1),
    "inner": _inner,
    "kron": _kron,
    "median": _median,
    "nan_to_num": _nan_to_num,
    "outer": _outer,
    "percentile": _quantiles("percentile", 100),
    "ptp": _ptp,
    "quantile": _quantiles("quantile", 1),
    "rot90": _rot90,
    "trace": _trace,
    "trapezoid": _trapezoid,
    "vdot": _vdot,
    "vsplit": _split_along(0),
}
"""By NumPy's names."""
