"""NumPy's functions that are Python around an array's method, or its constructor, without it.

What lies between costs 0.5 to 3 us a call, where an operation on a few elements takes one. Anything
but an array of NumPy's own class, and arguments that are rarely given, go to NumPy's function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.kernels import compiler

_Array = np.ndarray
_added: Any = np.add.reduce
FEW = 256  # elements, with which next to no product would be divided
COPIED = 4096  # elements, of which a copy is made sooner than a view that repeats others


def reshape(a: Any, /, shape: Any, **options: Any) -> Any:
    """`numpy.reshape`."""
    if type(a) is _Array and not options:
        return a.reshape(shape)
    return np.reshape(a, shape, **options)


def permute_dims(a: Any, /, axes: Any = None) -> Any:
    """`numpy.permute_dims`."""
    return a.transpose(axes) if type(a) is _Array else np.transpose(a, axes)


def matrix_transpose(x: Any, /) -> Any:
    """`numpy.matrix_transpose`."""
    if type(x) is _Array and x.ndim >= 2:
        return x.swapaxes(-1, -2)
    return np.matrix_transpose(x)


def expand_dims(a: Any, axis: Any) -> Any:
    """`numpy.expand_dims`."""
    if type(a) is _Array and type(axis) is int:
        shape, place = a.shape, axis if axis >= 0 else axis + a.ndim + 1
        if 0 <= place <= a.ndim:
            return a.reshape((*shape[:place], 1, *shape[place:]))
    return np.expand_dims(a, axis)


def squeeze(a: Any, axis: Any = None) -> Any:
    """`numpy.squeeze`."""
    return a.squeeze(axis) if type(a) is _Array else np.squeeze(a, axis)


def take(a: Any, indices: Any, axis: Any = None, **options: Any) -> Any:
    """`numpy.take`."""
    if type(a) is _Array and not options:
        return a.take(indices, axis)
    return np.take(a, indices, axis, **options)


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """`numpy.repeat`."""
    return a.repeat(repeats, axis) if type(a) is _Array else np.repeat(a, repeats, axis)


def _alike(arrays: Sequence[Any]) -> bool:
    """Whether they are arrays of NumPy's own class and of one shape, of which there are some."""
    if not arrays or type(arrays[0]) is not _Array:
        return False
    shape = arrays[0].shape
    return all([type(a) is _Array and a.shape == shape for a in arrays])


def stack(arrays: Sequence[Any], axis: int = 0, **options: Any) -> Any:
    """`numpy.stack`."""
    if options or type(axis) is not int or not _alike(arrays):
        return np.stack(arrays, axis, **options)
    shape = arrays[0].shape
    if axis == 0 and shape:
        return np.concatenate(arrays).reshape((len(arrays), *shape))
    place = axis if axis >= 0 else axis + len(shape) + 1
    if not 0 <= place <= len(shape):
        return np.stack(arrays, axis)  # refuses it
    new = (*shape[:place], 1, *shape[place:])
    return np.concatenate([a.reshape(new) for a in arrays], place)


def astype(x: Any, dtype: Any, /, **options: Any) -> Any:
    """`numpy.astype`."""
    return x.astype(dtype) if type(x) is _Array and not options else np.astype(x, dtype, **options)


METHODS: dict[str, Callable[..., Any]] = {
    "reshape": reshape,
    "permute_dims": permute_dims,
    "matrix_transpose": matrix_transpose,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "take": take,
    "repeat": repeat,
    "stack": stack,
    "astype": astype,
}
"""For arrays of any size."""


def zeros_like(a: Any, dtype: Any = None, **options: Any) -> Any:
    """`numpy.zeros_like`."""
    if type(a) is _Array and not options:
        return np.zeros(a.shape, a.dtype if dtype is None else dtype)
    return np.zeros_like(a, dtype, **options)


def ones_like(a: Any, dtype: Any = None, **options: Any) -> Any:
    """`numpy.ones_like`."""
    if type(a) is _Array and dtype is None and not options:
        y = np.empty(a.shape, a.dtype)
        y.fill(1)
        return y
    return np.ones_like(a, dtype, **options)


def broadcast_to(a: Any, shape: Any, **options: Any) -> Any:
    """`numpy.broadcast_to`; a copy of what has less than `COPIED` elements."""
    if type(a) is _Array and type(shape) is tuple and not options and prod(shape) < COPIED:
        y = np.empty(shape, a.dtype)
        y[...] = a
        return y
    return np.broadcast_to(a, shape, **options)


def stack_of_few(arrays: Sequence[Any], axis: int = 0, **options: Any) -> Any:
    """`numpy.stack`, one after the other along the first axis."""
    if axis == 0 and type(axis) is int and not options and _alike(arrays):
        return np.array(arrays)
    return stack(arrays, axis, **options)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, **options: Any
) -> Any:
    """`numpy.mean`: floats whose sums are of their own dtype are divided in it."""
    own = type(a) is _Array and dtype is None and not options and a.dtype in compiler.FLOATS
    if not own or not a.size:
        return np.mean(a, axis, dtype, keepdims=keepdims, **options)
    y = _added(a, axis, keepdims=keepdims)
    count = a.size // y.size
    if type(y) is not _Array:
        return y / count
    y /= count
    return y


def _reduced(ufunc: np.ufunc) -> Callable[..., Any]:
    reduce = ufunc.reduce

    def reduced(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return reduce(a, axis, None, out, keepdims=keepdims)

    return reduced


_MAX, _MIN = _reduced(np.maximum), _reduced(np.minimum)
OF_FEW: dict[str, Callable[..., Any]] = {
    **METHODS,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "broadcast_to": broadcast_to,
    "mean": mean,
    "stack": stack_of_few,
    "max": _MAX,
    "amax": _MAX,
    "min": _MIN,
    "amin": _MIN,
}
"""For arrays of a few elements, of which neither order nor memory counts."""
