"""Windows of a NumPy array as a view: nothing is gathered until somebody computes with them."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry, pad
from core.typing import Sizes


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
    g = Geometry(x.shape[2:], ksize, stride, pad_width, dilate, cover_all).checked()
    padded = pad(np, x, [(0, 0), (0, 0), *g.widths()], pad_value)
    shape, strides = g.strided(padded)
    return as_strided(padded, shape=shape, strides=strides, writeable=False)
