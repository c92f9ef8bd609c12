"""Windows of a NumPy array as a view: nothing is gathered until somebody computes with them.

Where windows lie is found once for their sizes: for small images that takes longer than what is
computed of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry, first_inside, per_axis, unfolded
from core.typing import Shape, Sizes


class Laid:
    """Where windows lie on images with their padding."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.padded = geometry.padded_size()
        self._inside: Any = (..., *geometry.inside()) if self.padded != geometry.size else ()

    @cached_property
    def offsets(self) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """For each place of the window, the indexes of its elements: of windows, and of images."""
        every = (slice(None), slice(None))
        found = self.geometry.offsets()
        return [((*every, *place, ...), (*every, *where)) for place, where in found]

    @cached_property
    def firsts(self) -> Array:
        """The number of each window's first element inside the image."""
        found: Array = first_inside(np, self.geometry)
        return found

    def around(self, x: Array, value: float) -> Array:
        """Images with their padding."""
        if not self._inside:
            return x
        padded = np.empty((*x.shape[:2], *self.padded), x.dtype)
        padded.fill(value)
        padded[self._inside] = x
        return padded

    def without(self, padded: Array) -> Array:
        """Images without their padding."""
        return padded[self._inside] if self._inside else padded


def laid(
    size: Sequence[int],
    ksize: Sizes,
    stride: Sizes,
    pad: Sizes,
    dilate: Sizes = 1,
    cover_all: bool = False,
) -> Laid:
    """Where these windows lie; ValueError where not one fits along some axis."""
    n = len(size)
    along = [(ksize, "ksize"), (stride, "stride"), (pad, "pad"), (dilate, "dilate")]
    return _laid(tuple(size), *[_each(v, n, name) for v, name in along], bool(cover_all))


def folded(shape: Shape, size: Sequence[int], stride: Sizes, pad: Sizes, dilate: Sizes = 1) -> Laid:
    """Where windows lie that make an array of this shape, (n, c, *ksize, *out), of images."""
    n = len(size)
    along = [(stride, "stride"), (pad, "pad"), (dilate, "dilate")]
    return _folded(shape[2:], tuple(size), *[_each(v, n, name) for v, name in along])


def _each(value: Sizes, n: int, name: str) -> tuple[int, ...]:
    if type(value) is tuple and len(value) == n and _WHOLE.issuperset(map(type, value)):
        return value
    return per_axis(value, n, name)


_WHOLE = frozenset({int})


@lru_cache(128)
def _laid(size: Shape, *sizes: Any) -> Laid:
    return Laid(Geometry(size, *sizes).checked())


@lru_cache(128)
def _folded(shape: Shape, size: Shape, *sizes: Any) -> Laid:
    return Laid(unfolded((1, 1, *shape), size, *sizes))


def windows(
    x: Array,
    ksize: Sizes,
    stride: Sizes,
    pad_width: Sizes,
    dilate: Sizes,
    cover_all: bool,
    pad_value: float,
) -> Array:
    """All windows of `x` (n, c, *spatial): a read-only view (n, c, *ksize, *out) of `x` padded."""
    found = laid(x.shape[2:], ksize, stride, pad_width, dilate, cover_all)
    padded = found.around(x, pad_value)
    shape, strides = found.geometry.strided(padded)
    return as_strided(padded, shape=shape, strides=strides, writeable=False)


def fold(windows: Array, size: Sequence[int], stride: Sizes, pad: Sizes, dilate: Sizes) -> Array:
    """The adjoint of `windows`: (n, c, *ksize, *out) to (n, c, *size), overlaps summed."""
    found = folded(windows.shape, size, stride, pad, dilate)
    image = np.zeros((*windows.shape[:2], *found.padded), windows.dtype)
    for place, where in found.offsets:
        image[where] += windows[place]
    return found.without(image)
