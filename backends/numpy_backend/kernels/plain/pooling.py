"""Max pooling: the formula's steps, each place of the window in turn, without its temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.plain.select import select, worthwhile
from backends.numpy_backend.typing import Array
from backends.numpy_backend.windows import folded, laid
from core.arrays.windows import per_axis


def max_pooling(f: Any, xp: Any, x: Any) -> Any:
    """The maximum of each window; the number of the first place that attains it in `indexes`."""
    found = laid(x.shape[2:], f.ksize, f.stride, f.pad, 1, f.cover_all)
    padded = found.around(x, -np.inf)
    y: Any = None
    for i, (_, where) in enumerate(found.offsets):
        element = padded[where]
        if y is None:
            y, indexes = element + 0, np.empty(element.shape, np.int32)
            indexes[...] = found.firsts  # which is the greatest, where all others are -inf too
        else:
            # Places come in rising order, so a later one that wins is also the greater number.
            np.maximum(indexes, (element > y) * np.int32(i), out=indexes)
            np.maximum(y, element, out=y)
    if y.size and np.isnan(y.min()):
        return NotImplemented  # comparisons have not found where the NaN is; the formula does
    f.indexes = indexes
    return y


def max_pooling_gradient(f: Any, xp: Any, g: Any) -> Any:
    """Each value of `g` added where its window's maximum was."""
    indexes = getattr(f.indexes, "array", f.indexes)
    ksize = per_axis(f.ksize, g.ndim - 2, "ksize")
    found = folded((*g.shape[:2], *ksize, *g.shape[2:]), f.size, f.stride, f.pad)
    chosen = select if worthwhile(g) else _where
    image = np.zeros((*g.shape[:2], *found.padded), g.dtype)
    for i, (_, where) in enumerate(found.offsets):
        image[where] += chosen(indexes == i, g)
    return found.without(image)


def _where(condition: Array, g: Array) -> Array:
    return np.where(condition, g, g.dtype.type(0))
