"""Scalars and arrays brought to the form that an operation needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.arrays import backend
from core.errors.scalars import is_number, is_scalar
from core.graph import array_api
from core.ops.types.shapes import broadcast_shapes


def force_array(x: Any, dtype: Any = None) -> Any:
    """`x` as an array: a number becomes one without dimensions, an array is cast if need be.

    NumPy's scalars become NumPy arrays of their dtype, Python's numbers arrays of the current
    backend.

    >>> import numpy as np
    >>> force_array(np.float32(2))
    array(2., dtype=float32)
    """
    if isinstance(x, (bool, int, float, complex)) and not hasattr(x, "dtype"):
        return backend.current().asarray(x, dtype)
    if is_scalar(x):
        return backend.host().asarray(x.item(), x.dtype if dtype is None else dtype)
    return x if dtype is None else _cast(x, dtype)


def force_type(dtype: Any, value: Any) -> Any:
    """`value` in `dtype`: an array cast if need be, a number as a scalar of that dtype.

    >>> import numpy as np
    >>> force_type(np.dtype("float32"), 2)
    np.float32(2.0)
    """
    if not is_number(value):
        return _cast(value, dtype)
    make = getattr(dtype, "type", dtype)  # NumPy's dtypes know their scalar type
    return make(value) if callable(make) else value


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """The array `x` summed down to a `shape` that broadcasts to its own.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3), "f"), (1, 3))
    array([[2., 2., 2.]], dtype=float32)
    """
    shape = tuple(shape)
    if broadcast_shapes([x.shape, shape]) != x.shape:
        raise ValueError(f"sum_to: {shape} does not broadcast to {x.shape}.")
    return array_api.functions.SumTo(shape).evaluate(x)


def size_of_shape(shape: Sequence[int]) -> int:
    """How many elements an array of this shape has.

    >>> size_of_shape((2, 3)), size_of_shape(())
    (6, 1)
    """
    return math.prod(shape)


def _cast(array: Any, dtype: Any) -> Any:
    owner = backend.of(array)
    return owner.xp.astype(array, owner.dtype(dtype), copy=False)
