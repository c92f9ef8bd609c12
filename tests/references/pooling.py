"""References of pooling."""

import math

from references.tools import pooled


def max_pooling(x, ksize, stride=None, pad=0, cover_all=True):
    return pooled(x, ksize, stride, pad, cover_all, max, -math.inf)


def average_pooling(x, ksize, stride=None, pad=0, cover_all=False):
    return pooled(x, ksize, stride, pad, cover_all, lambda v: math.fsum(v) / len(v), 0.0)


REFERENCES = {
    "MaxPooling2D": max_pooling,
    "MaxPoolingND": max_pooling,
    "AveragePooling2D": average_pooling,
    "AveragePoolingND": average_pooling,
}
