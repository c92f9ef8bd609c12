"""The array standard's functions on Variables, as far as the core brings them itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.arrays.backend import BACKENDS, get_device
from core.errors import InvalidType
from core.errors.kinds import kind_of, taking
from core.errors.scalars import is_number, is_whole
from core.graph.variable import Variable, as_array, as_variable, wrap
from core.ops.intrinsics.arithmetic import (
    Absolute,
    Add,
    Divide,
    FloorDivide,
    Log,
    Multiply,
    Negative,
    Power,
    Sign,
    Subtract,
    Where,
)
from core.ops.intrinsics.broadcasting import BroadcastTo, Sum
from core.ops.intrinsics.casting import Cast
from core.ops.intrinsics.comparisons import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from core.ops.intrinsics.indexing import GetItem, SetItem
from core.ops.intrinsics.products import MatMul
from core.ops.intrinsics.promotion import (
    arrays_in,
    cast,
    is_complex,
    is_integral,
    promoted,
    promoting,
    refuse_complex,
)
from core.ops.intrinsics.shapes import Reshape, Transpose
from core.ops.namespace import namespace
from core.ops.operands import as_operand
from core.registry.configuration import current_state
from core.typing import Axes


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
    x._become(SetItem.call(x, value, slices))


def matmul(a: Any, b: Any) -> Variable:
    """The matrix product, vectors being rows on the left and columns on the right."""
    a, b = as_variable(a), as_variable(b)
    if a.ndim > 1 and b.ndim > 1:
        return MatMul.call(a, b)
    rows = reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    columns = reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    y = MatMul.call(rows, columns)
    shape = [
        n
        for i, n in enumerate(y.shape)
        if not ((b.ndim == 1 and i == y.ndim - 1) or (a.ndim == 1 and i == y.ndim - 2))
    ]
    return reshape(y, tuple(shape))


def reshape(x: Any, shape: Any, *, copy: bool | None = None) -> Variable:
    """X in another shape; one entry may be -1."""
    return Reshape.call(x, (shape,) if is_whole(shape) else shape)


def transpose(x: Any, axes: Sequence[int] | None = None) -> Variable:
    """X with permuted axes; None reverses them."""
    return Transpose.call(x, axes)


def matrix_transpose(x: Any) -> Variable:
    """X with its last two axes swapped."""
    ndim = as_variable(x).ndim
    if ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 axes, got {ndim}")
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def broadcast_to(x: Any, shape: Any) -> Variable:
    """X repeated up to a shape."""
    x = as_variable(x)
    return x if type(shape) is tuple and x.shape == shape else BroadcastTo.call(x, shape)


def sum(x: Any, axis: Axes = None, *, dtype: Any = None, keepdims: bool = False) -> Variable:
    """The sum over axes, in the dtype of x unless another is given."""
    x = x if dtype is None else astype(x, dtype)
    return Sum.call(x, axis, keepdims)


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Variable:
    """X in another dtype; itself if it has that one."""
    return cast(x, dtype)


def where(condition: Any, x: Any, y: Any) -> Variable:
    """X where the condition holds, else y."""
    return Where.call(condition, x, y)


# ---------------------------------------------------------------------- the namespace's own


_OF_REAL_NUMBERS = frozenset(
    ["argmax", "argmin", "argsort", "max", "maximum", "min", "minimum", "nextafter"]
    + ["remainder", "searchsorted", "signbit"]
)
"""The backend's functions that the standard has for real numbers alone."""


def without_gradient(name: str, *given: Any, **options: Any) -> Any:
    """The namespace's function `name` on Variables, arrays and numbers: Variables of the results.

    >>> import numpy as np
    >>> without_gradient("isnan", np.array([1, np.nan]))
    variable([False,  True])
    """
    lead = next(iter(arrays_in(given)), None)
    if lead is None:
        raise TypeError(f"{name}: expected a Variable or an array among the arguments, got none")
    backend = BACKENDS[type(lead)]
    if name in _OF_REAL_NUMBERS:
        refuse_complex(name, *given)
    result = getattr(backend.xp, name)(*map(as_array, given), **options)
    if isinstance(result, tuple):
        return tuple([wrap(backend.asarray(y)) for y in result])
    return wrap(backend.asarray(result))


def widened(x: Any, dtype: Any = None) -> Variable:
    """X in `dtype`, or, as sums of integers are, in the default integer if it is narrower.

    >>> import numpy as np
    >>> widened(np.ones(1, "int8")).dtype, widened(np.ones(1, "f")).dtype
    (dtype('int64'), dtype('float32'))
    """
    x = as_variable(x)
    if dtype is not None:
        return cast(x, dtype)
    kind = "" if x._spec is None else x._spec.kind
    return cast(x, "uint64" if kind == "u" else "int64") if kind in ("b", "i", "u") else x


def unshared(x: Variable) -> Variable:
    """A copy, which item assignment to X does not reach; differentiable."""
    return Cast.call(x, x.dtype) if x.requires_grad else wrap(x.backend.copy(x.array))


def _astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Variable:
    """X in another dtype; in its own, a copy unless `copy` is False."""
    y = cast(x, dtype)
    if device is not None and get_device(device) != y.device:
        return namespace.asarray(y, device=device)
    return unshared(y) if copy and y is as_variable(x) else y


_truth = taking(kind_of("bool | None"), "reshape", "copy")


def _reshape(x: Any, shape: Any, *, copy: bool | None = None) -> Variable:
    """X in another shape; one entry may be -1. With `copy=False` refused where that takes one."""
    x = as_variable(x)
    y = reshape(x, shape)
    copy = None if copy is None else _truth(copy)
    if copy is False:
        x.xp.reshape(x.array, y.shape, copy=False)
    return unshared(y) if copy else y


def _sum(x: Any, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Variable:
    """The sum over axes; integers are added in the default integer, at least."""
    return Sum.call(widened(x, dtype), axis, keepdims)


def _where(condition: Any, x1: Any, x2: Any, /) -> Variable:
    """X1 where the condition holds, else x2; one of them may be a number."""
    try:
        return Where.call(condition, x1, x2)
    except InvalidType:
        return Where.call(condition, *promoted(x1, x2))


def _matmul(x1: Any, x2: Any, /) -> Variable:
    """The matrix product, vectors being rows on the left and columns on the right."""
    try:
        return matmul(x1, x2)
    except InvalidType:
        if is_integral(x1, x2):
            return without_gradient("matmul", x1, x2)
    return matmul(*promoted(x1, x2))


def _made_like(name: str) -> Callable[..., Variable]:
    def like(x: Any, *, dtype: Any = None, device: Any = None) -> Variable:
        x = as_variable(x)
        place = x.device if device is None else get_device(device)
        backend = place.backend
        options = {"device": backend.native_device(place)}
        if dtype is not None or backend is not x.backend:
            options["dtype"] = backend.dtype(dtype or x.backend.dtype_name(x.dtype))
        if backend is x.backend:
            return wrap(getattr(backend.xp, name)(x.array, **options))
        return wrap(getattr(backend.xp, name.removesuffix("_like"))(x.shape, **options))

    like.__name__ = name
    like.__code__ = like.__code__.replace(co_name=name)  # as errors call it
    like.__doc__ = f"The namespace's `{name}` of the array of x: a Variable without gradient."
    return like


def power(x: Any, y: Any) -> Variable:
    """x^y."""
    return Power.call(x, y)


BY_NAME: dict[str, Any] = {
    "negative": Negative,
    "positive": as_variable,
    "abs": Absolute,
    "sign": Sign,
    "log": Log,
    "where": _where,
    "reshape": _reshape,
    "permute_dims": transpose,
    "matrix_transpose": matrix_transpose,
    "broadcast_to": broadcast_to,
    "sum": _sum,
    "matmul": _matmul,
    "astype": _astype,
    "zeros_like": _made_like("zeros_like"),
    "ones_like": _made_like("ones_like"),
} | {
    name: promoting(name, operation)
    for name, operation in {
        "add": Add,
        "subtract": Subtract,
        "multiply": Multiply,
        "divide": Divide,
        "floor_divide": FloorDivide,
        "pow": Power,
        "equal": Equal,
        "not_equal": NotEqual,
        "less": Less,
        "less_equal": LessEqual,
        "greater": Greater,
        "greater_equal": GreaterEqual,
    }.items()
}
"""What the namespace of the standard has from the core, the rest being plugins' (see namespace)."""
