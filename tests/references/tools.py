"""What references are written with: Python's own numbers, one element at a time."""

import math
from itertools import product

import numpy as np


def each(function, dtype=float):
    """An elementwise reference from a function of Python numbers."""
    vectorized = np.vectorize(function, otypes=[dtype])

    def reference(*inputs, **settings):
        return vectorized(*inputs, **settings)

    return reference


def axes_of(axis, ndim):
    axes = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return sorted(a % ndim for a in axes)


def along(function):
    """A reduction from a function of a list of numbers, in row-major order."""

    def reference(x, axis=None, keepdims=False):
        axes = axes_of(axis, x.ndim) if x.ndim else []
        kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
        result = np.empty(kept)
        for index in np.ndindex(*kept):
            part = tuple(slice(None) if i in axes else k for i, k in enumerate(index))
            result[index] = function(x[part].ravel().tolist())
        if keepdims:
            return result
        return result.reshape([n for i, n in enumerate(x.shape) if i not in axes])

    return reference


total = along(math.fsum)


def pair(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


def windows(size, ksize, stride, pad, cover_all=False, dilate=1):
    """For one axis: the positions of each window in the unpadded input, None in the padding."""
    span = (ksize - 1) * dilate + 1
    starts = []
    start = -pad
    while start + span <= size + pad:
        starts.append(start)
        start += stride
    if cover_all and (not starts or starts[-1] + span < size + pad):
        starts.append(start)
    return [
        [p if 0 <= p < size else None for p in range(start, start + span, dilate)]
        for start in starts
    ]


def pooled(x, ksize, stride, pad, cover_all, function, outside):
    """Apply a function of a list to every window of every channel."""
    n = x.ndim - 2
    ksize, pad = pair(ksize, n), pair(pad, n)
    stride = ksize if stride is None else pair(stride, n)
    places = [
        windows(s, k, st, p, cover_all)
        for s, k, st, p in zip(x.shape[2:], ksize, stride, pad, strict=True)
    ]
    y = np.empty((*x.shape[:2], *map(len, places)))
    for index in np.ndindex(*y.shape):
        seen = product(*(places[i][k] for i, k in enumerate(index[2:])))
        y[index] = function([outside if None in at else x[(*index[:2], *at)] for at in seen])
    return y
