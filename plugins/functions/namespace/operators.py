"""What operators do, by the standard's names: with promotion, and with the standard's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Variable, as_variable
from core.arrays.backend import get_device
from core.errors import InvalidType
from core.errors.kinds import kind_of, taking
from core.errors.scalars import is_whole
from core.graph.variable import wrap
from core.ops.namespace import namespace
from core.typing import Axes
from plugins.functions.array.axis_order import matrix_transpose as matrix_transpose
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.broadcast import broadcast_to as broadcast_to
from plugins.functions.array.cast import cast
from plugins.functions.array.copy import unshared
from plugins.functions.array.reshape import Reshape
from plugins.functions.array.where import Where
from plugins.functions.math.arithmetic import Add, Divide, Multiply, Negative, Power, Subtract
from plugins.functions.math.product import product as product
from plugins.functions.math.sum import Sum
from plugins.functions.namespace.comparisons import (
    Equal,
    FloorDivide,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    NotEqual,
)
from plugins.functions.namespace.plain import without_gradient
from plugins.functions.namespace.promotion import is_integral, promoted, promoting


def widened(x: Any, dtype: Any = None) -> Variable:
    """Cast x to `dtype`, or, as sums of integers are, to the default integer if it is narrower.

    >>> import numpy as np
    >>> widened(np.ones(1, "int8")).dtype, widened(np.ones(1, "f")).dtype
    (dtype('int64'), dtype('float32'))
    """
    x = as_variable(x)
    if dtype is not None:
        return cast(x, dtype)
    kind = "" if x._spec is None else x._spec.kind
    return cast(x, "uint64" if kind == "u" else "int64") if kind in ("b", "i", "u") else x


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Variable:
    """Cast x to another dtype; in its own, a copy unless `copy` is False."""
    y = cast(x, dtype)
    if device is not None and get_device(device) != y.device:
        return namespace.asarray(y, device=device)
    return unshared(y) if copy and y is as_variable(x) else y


_truth = taking(kind_of("bool | None"), "reshape", "copy")


def reshape(x: Any, shape: Any, *, copy: bool | None = None) -> Variable:
    """Reshape x; one entry may be -1. With `copy=False` refused where that takes one."""
    x = as_variable(x)
    y = Reshape.call(x, (shape,) if is_whole(shape) else shape)
    copy = None if copy is None else _truth(copy)
    if copy is False:
        x.xp.reshape(x.array, y.shape, copy=False)
    return unshared(y) if copy else y


def sum(x: Any, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Variable:
    """Sum over axes; integers are added in the default integer, at least."""
    return Sum.call(widened(x, dtype), axis, keepdims)


def where(condition: Any, x1: Any, x2: Any, /) -> Variable:
    """Choose x1 where the condition holds, otherwise x2; one of them may be a number."""
    try:
        return Where.call(condition, x1, x2)
    except InvalidType:
        return Where.call(condition, *promoted(x1, x2))


def matmul(x1: Any, x2: Any, /) -> Variable:
    """Multiply matrices, vectors being rows on the left and columns on the right."""
    try:
        return product(x1, x2)
    except InvalidType:
        if is_integral(x1, x2):
            return without_gradient("matmul", x1, x2)
    return product(*promoted(x1, x2))


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


negative, positive = Negative, as_variable
permute_dims = transpose
add = promoting("add", Add)
subtract = promoting("subtract", Subtract)
multiply = promoting("multiply", Multiply)
divide = promoting("divide", Divide)
floor_divide = promoting("floor_divide", FloorDivide)
pow = promoting("pow", Power)
equal = promoting("equal", Equal)
not_equal = promoting("not_equal", NotEqual)
less = promoting("less", Less)
less_equal = promoting("less_equal", LessEqual)
greater = promoting("greater", Greater)
greater_equal = promoting("greater_equal", GreaterEqual)
zeros_like = _made_like("zeros_like")
ones_like = _made_like("ones_like")
