"""References of pooling."""

import math
from fractions import Fraction

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


def _rounded(v):
    return round(v)


def _bin(low, size, i, count, length):
    """The places of a bin, by exact fractions."""
    size = max(size, 1)
    start, stop = math.floor(Fraction(i * size, count)), math.ceil(Fraction((i + 1) * size, count))
    return [k for k in range(low + start, low + stop) if 0 <= k < length]


def _region_maxima(x, regions, outh, outw):
    y = np.zeros((len(regions), x.shape[1], outh, outw))
    for (r, c, i, j), _ in np.ndenumerate(y):
        image, top, left, height, width = regions[r]
        rows = _bin(top, height, i, outh, x.shape[2])
        columns = _bin(left, width, j, outw, x.shape[3])
        seen = [x[image, c, h, w] for h in rows for w in columns]
        y[r, c, i, j] = max(seen, default=0.0)
    return y


def roi_pooling(x, rois, outh, outw, spatial_scale):
    regions = []
    for image, *ends in rois.tolist():
        left, top, right, bottom = (_rounded(v * spatial_scale) for v in ends)
        regions.append((int(image), top, left, bottom - top + 1, right - left + 1))
    return _region_maxima(x, regions, outh, outw)


def roi_max_pooling(x, rois, roi_indices, outh, outw, spatial_scale):
    regions = []
    for image, ends in zip(roi_indices, rois.tolist(), strict=True):
        top, left, bottom, right = (_rounded(v * spatial_scale) for v in ends)
        regions.append((image, top, left, bottom - top, right - left))
    return _region_maxima(x, regions, outh, outw)


def over_axes(reference):
    """The reference for a number of axes, which the input shows as well."""

    def checked(x, ndim, *args, **settings):
        assert x.ndim == ndim + 2
        return reference(x, *args, **settings)

    return checked


def means_of_shares(x, axis, count):
    n = x.shape[axis]
    parts = [range(math.floor(i * n / count), math.ceil((i + 1) * n / count)) for i in range(count)]
    return np.stack([x.take(part, axis).mean(axis) for part in parts], axis)


def weighed_regions(x, numbers, rows, columns):
    pairs = zip(x[numbers.astype(int)], rows, columns, strict=True)
    y = [np.einsum("chw,ph,qw->cpq", image, down, across) for image, down, across in pairs]
    shape = rows.shape[0], x.shape[1], rows.shape[1], columns.shape[1]
    return np.array(y).reshape(shape)


REFERENCES = {
    "WeighedRegions": weighed_regions,
    "MeansOfShares": means_of_shares,
    "MaxPooling2D": max_pooling,
    "MaxPoolingND": over_axes(max_pooling),
    "AveragePooling2D": average_pooling,
    "AveragePoolingND": over_axes(average_pooling),
    "ROIMaxPooling2D": roi_max_pooling,
    "ROIPooling2D": roi_pooling,
    "Unpooling2D": unpooling,
    "UnpoolingND": over_axes(unpooling),
    "Upsampling2D": upsampling,
}
