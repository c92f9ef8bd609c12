"""The array standard's functions on Variables, as far as the core brings them itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.intrinsics.arithmetic import (
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
from core.intrinsics.broadcasting import Axis, BroadcastTo, Sum
from core.intrinsics.casting import Cast
from core.intrinsics.comparisons import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from core.intrinsics.indexing import GetItem
from core.intrinsics.products import MatMul
from core.intrinsics.shapes import Reshape, Transpose
from core.variable import Variable, as_array, as_variable, wrap


def getitem(x: Any, slices: Any) -> Variable:
    """x[slices]; indices that are Variables are taken as their arrays."""
    if isinstance(slices, tuple):
        slices = tuple([as_array(s) for s in slices])
    return GetItem.call(x, as_array(slices))


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
    shape = (int(shape),) if hasattr(shape, "__index__") else tuple([int(n) for n in shape])
    return Reshape.call(x, shape)


def transpose(x: Any, axes: tuple[int, ...] | None = None) -> Variable:
    """X with permuted axes; None reverses them."""
    axes = None if axes is None else tuple([int(a) for a in axes])
    return Transpose.call(x, axes)


def matrix_transpose(x: Any) -> Variable:
    """X with its last two axes swapped."""
    ndim = as_variable(x).ndim
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def broadcast_to(x: Any, shape: Any) -> Variable:
    """X repeated up to a shape."""
    shape = tuple([int(n) for n in shape])
    x = as_variable(x)
    return x if x.shape == shape else BroadcastTo.call(x, shape)


def sum(x: Any, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Variable:
    """The sum over axes, in the dtype of x unless another is given."""
    x = x if dtype is None else astype(x, dtype)
    return Sum.call(x, axis, keepdims)


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Variable:
    """X in another dtype; itself if it has that one."""
    x = as_variable(x)
    if x.dtype == x.backend.dtype(dtype):
        return x
    return Cast.call(x, dtype)


def where(condition: Any, x: Any, y: Any) -> Variable:
    """X where the condition holds, else y."""
    return Where.call(condition, x, y)


def _made_like(name: str) -> Callable[..., Variable]:
    def like(x: Any, **options: Any) -> Variable:
        x = as_variable(x)
        return wrap(getattr(x.xp, name)(x.array, **options))

    like.__name__ = name
    like.__doc__ = f"The namespace's `{name}` of the array of x: a Variable without gradient."
    return like


def power(x: Any, y: Any) -> Variable:
    """x^y."""
    return Power.call(x, y)


standard: dict[str, Any] = {
    "add": Add,
    "subtract": Subtract,
    "multiply": Multiply,
    "divide": Divide,
    "floor_divide": FloorDivide,
    "pow": power,
    "negative": Negative,
    "positive": as_variable,
    "abs": Absolute,
    "sign": Sign,
    "log": Log,
    "where": where,
    "equal": Equal,
    "not_equal": NotEqual,
    "less": Less,
    "less_equal": LessEqual,
    "greater": Greater,
    "greater_equal": GreaterEqual,
    "reshape": reshape,
    "permute_dims": transpose,
    "matrix_transpose": matrix_transpose,
    "broadcast_to": broadcast_to,
    "sum": sum,
    "matmul": matmul,
    "astype": astype,
    "zeros_like": _made_like("zeros_like"),
    "ones_like": _made_like("ones_like"),
}
