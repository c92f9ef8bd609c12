"""Elements that are named one by one: by their places in one flat axis, where NumPy is quickest."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.scatter import scatter_add


def _places(shape: tuple[int, ...], axis: int, indices: Any) -> Any:
    """Where elements along an axis are in an array of this shape; None where some are not there."""
    axis, n = axis % len(shape), shape[axis]
    if not indices.size or indices.dtype.kind not in "iu" or indices.ndim != len(shape):
        return None
    low, high = int(indices.min()), int(indices.max())
    if low < -n or high >= n:
        return None
    places = indices.astype(np.intp)
    if low < 0:
        places[places < 0] += n
    step, others = prod(shape[axis + 1 :]), np.zeros((), np.intp)
    if step != 1:
        places *= step
    for d, length in enumerate(shape):
        if d != axis and length > 1:
            every = np.arange(length) * prod(shape[d + 1 :])
            others = others + every.reshape(length, *(1,) * (len(shape) - d - 1))
    fits = np.broadcast_shapes(places.shape, others.shape) == places.shape
    return np.add(places, others, out=places if fits else None)


def take_along_axis(f: Any, xp: Any, x: Any, indices: Any) -> Any:
    """The formula's, of an array in one piece."""
    found = _places(x.shape, f.axis, indices) if x.flags.c_contiguous else None
    return NotImplemented if found is None else x.reshape(-1).take(found)


def add_along_axis(f: Any, xp: Any, x: Any, indices: Any) -> Any:
    """The formula's."""
    found = _places(f.shape, f.axis, indices)
    if found is None:
        return NotImplemented
    full = np.zeros(prod(f.shape), x.dtype)
    np.add.at(full, found.reshape(-1), np.broadcast_to(x, found.shape).reshape(-1))
    return full.reshape(f.shape)


def add_taken(f: Any, xp: Any, x: Any, indices: Any) -> Any:
    """The formula's, along the axis as it lies."""
    full = np.zeros(f.shape, x.dtype)
    scatter_add(full, (*(slice(None),) * (f.axis % full.ndim), indices), x)
    return full


def select_item(f: Any, xp: Any, x: Any, t: Any) -> Any:
    """The formula's, in one call of NumPy's."""
    f.check_values(xp, x, t)
    return x[np.arange(len(x)), t]


def place_item(f: Any, xp: Any, x: Any, t: Any) -> Any:
    """The formula's, which looks at all elements of the result."""
    full = np.zeros((len(x), f.length), x.dtype)
    full[np.arange(len(x)), t] = x
    return full


def as_strided(f: Any, xp: Any, x: Any) -> Any:
    """A copy of what lies there."""
    if 0 in f.shape:
        return NotImplemented
    x, step = np.ascontiguousarray(x), x.itemsize
    strides = [n * step for n in f.strides]
    return np.ndarray(f.shape, x.dtype, x, f.offset * step, strides).copy()
