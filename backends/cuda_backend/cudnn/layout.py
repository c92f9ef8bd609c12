"""How arrays lie in memory, as cuDNN is told: sizes, steps in elements, and a dtype."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from core.typing import Shape


class Layout(NamedTuple):
    """Sizes of the axes, the steps between their elements, and the plain name of the dtype."""

    shape: Shape
    strides: Shape
    dtype: str


READ = 16
"""Bytes that cuDNN reads at once: memory that it is given begins at a multiple of them."""

NUMBER = Layout((1, 1, 1, 1), (1, 1, 1, 1), "number")
"""That of a number, which a plan is given at each launch, and not an array."""


def packed(shape: Shape, dtype: str, last: bool = False) -> Layout:
    """Elements without gaps, the channels (axis 1) before the other axes or, if `last`, after.

    >>> packed((2, 3, 4, 5), 'float32').strides, packed((2, 3, 4, 5), 'float32', True).strides
    ((60, 20, 5, 1), (60, 1, 15, 3))
    """
    inner = [prod(shape[i + 1 :]) for i in range(len(shape))]
    if last:
        places, channels = shape[2:], shape[1]
        inner = [prod(shape[1:]), 1]
        inner += [prod(places[i + 1 :]) * channels for i in range(len(places))]
    return Layout(shape, tuple(inner), dtype)


def lying(array: Any) -> Layout:
    """How an array lies, whose elements may be apart."""
    size = array.itemsize
    return Layout(array.shape, tuple([s // size for s in array.strides]), array.dtype.name)


def channels_last(array: Any) -> bool:
    """Whether channels (axis 1) follow the other axes in memory, and there is more than one."""
    if array.ndim < 3 or array.flags.c_contiguous:
        return False
    return bool(array.transpose(0, *range(2, array.ndim), 1).flags.c_contiguous)


def whole(library: Any, array: Any) -> Any:
    """The array, or a copy of it, in the order of C, that begins where cuDNN can read."""
    found = library.ascontiguousarray(array)
    return found.copy() if found.data.ptr % READ else found


def laid(library: Any, array: Any, last: bool) -> Any:
    """The array, or a copy of it, that lies as `packed` says."""
    if not last:
        return whole(library, array)
    turned = whole(library, array.transpose(0, *range(2, array.ndim), 1))
    return turned.transpose(0, array.ndim - 1, *range(1, array.ndim - 1))


def room(library: Any, shape: Shape, dtype: Any, last: bool = False) -> Any:
    """A new array that lies so, its elements not written yet."""
    if not last:
        return library.empty(shape, dtype=dtype)
    memory = library.empty((shape[0], *shape[2:], shape[1]), dtype=dtype)
    return memory.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))
