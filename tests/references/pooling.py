"""References of pooling."""

import math

import numpy as np
from references.tools import pair, pooled


def max_pooling(x, ksize, stride=None, pad=0, cover_all=True):
    return pooled(x, ksize, stride, pad, cover_all, max, -math.inf)


def average_pooling(x, ksize, stride=None, pad=0, cover_all=False):
    return pooled(x, ksize, stride, pad, cover_all, lambda v: math.fsum(v) / len(v), 0.0)


def _spread(x, ksize, stride, pad, outsize, cover_all, places):
    """Adds each element to the given places of its window, in a frame wider than the output."""
    n = x.ndim - 2
    stride = pair(ksize if stride is None else stride, n)
    ksize, pad = pair(ksize, n), pair(pad, n)
    if outsize is None:
        outsize = [
            s * (m - 1) + k - 2 * p - (s - 1 if cover_all else 0)
            for m, k, s, p in zip(x.shape[2:], ksize, stride, pad, strict=True)
        ]
    outsize = pair(outsize, n) if isinstance(outsize, int) else outsize
    frame = np.zeros((*x.shape[:2], *(m + 2 * p + 9 for m, p in zip(outsize, pad, strict=True))))
    for index, value in np.ndenumerate(x):
        corner = [i * s for i, s in zip(index[2:], stride, strict=True)]
        for place in places(index, ksize):
            frame[(*index[:2], *(c + i for c, i in zip(corner, place, strict=True)))] += value
    return frame[(..., *(slice(p, p + m) for m, p in zip(outsize, pad, strict=True)))]


def unpooling(x, ksize, stride=None, pad=0, outsize=None, cover_all=True):
    return _spread(x, ksize, stride, pad, outsize, cover_all, lambda _, k: np.ndindex(*k))


def upsampling(x, indexes, ksize, stride=None, pad=0, outsize=None, cover_all=True):
    indexes = np.reshape(np.asarray(indexes, "int64"), x.shape)

    def place(index, size):
        return [divmod(int(indexes[index]), size[1])]

    return _spread(x, ksize, stride, pad, outsize, cover_all, place)


REFERENCES = {
    "MaxPooling2D": max_pooling,
    "MaxPoolingND": max_pooling,
    "AveragePooling2D": average_pooling,
    "AveragePoolingND": average_pooling,
    "Unpooling2D": unpooling,
    "UnpoolingND": unpooling,
    "Upsampling2D": upsampling,
}
