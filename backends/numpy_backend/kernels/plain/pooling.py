"""Max pooling: the formula's steps, each place of the window in turn, without its temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.plain.select import select, worthwhile
from core.arrays.windows import Geometry, pad, per_axis, unfolded


def max_pooling(f: Any, xp: Any, x: Any) -> Any:
    """The maximum of each window; the number of the first place that attains it in `indexes`."""
    g = Geometry(x.shape[2:], f.ksize, f.stride, f.pad, 1, f.cover_all).checked()
    padded = pad(np, x, [(0, 0), (0, 0), *g.widths()], -np.inf)
    y: Any = None
    for i, (_, where) in enumerate(g.offsets()):
        element = padded[(slice(None), slice(None), *where)]
        if y is None:
            y, indexes = element + 0, np.zeros(element.shape, np.int32)
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
    if not worthwhile(g):
        return NotImplemented
    ksize = per_axis(f.ksize, g.ndim - 2, "ksize")
    shape = (*g.shape[:2], *ksize, *g.shape[2:])
    geometry = unfolded(shape, f.size, f.stride, f.pad, 1)
    image = np.zeros((*g.shape[:2], *geometry.padded_size()), g.dtype)
    for i, (_, where) in enumerate(geometry.offsets()):
        image[(slice(None), slice(None), *where)] += select(indexes == i, g)
    return image[(slice(None), slice(None), *geometry.inside())]
