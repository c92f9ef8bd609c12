"""The greatest elements of bins of regions, which are looked at where they lie.

The formula sees a copy of the image for each region, since it may look at no position.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Indices,
    Indices2,
    Read3,
    Write2,
    WriteIndices2,
    compiled,
    number,
    suits,
)

LEAST = 64  # channels of regions in a part
LOWEST = number(-inf)
ZERO = number(0)


@compiled
def _maxima(
    x: Read3,
    images: Indices,
    top: Indices2,
    bottom: Indices2,
    left: Indices2,
    right: Indices2,
    y: Write2,
    places: WriteIndices2,
    start: int,
    stop: int,
) -> None:
    """Channels of regions from `start` to `stop`: of equal elements the first, NaN before all."""
    channels = y.shape[0] // images.size
    height, width = x.shape[1], x.shape[2]
    for unit in range(start, stop):
        r = unit // channels
        channel = images[r] * channels + unit % channels
        plane, first = x[channel], channel * height * width
        for i in range(top.shape[1]):
            for j in range(left.shape[1]):
                begin, end = left[r, j], right[r, j]
                best, place = LOWEST, top[r, i] * width + begin
                for h in range(top[r, i], bottom[r, i]):
                    for w in range(begin, end):
                        v = plane[h, w]
                        if v > best or (v != v and best == best):
                            best, place = v, h * width + w
                empty = top[r, i] >= bottom[r, i] or begin >= end
                y[unit, i * left.shape[1] + j] = ZERO if empty else best
                places[unit, i * left.shape[1] + j] = first + (0 if empty else place)


def region_maxima(f: Any, xp: Any, x: Any, *regions: Any) -> Any:
    """What ROI pooling gives; it leaves the places of the maxima, and where there are any."""
    if not suits(x):
        return NotImplemented
    images, rows, columns = f.edges(xp, x, *regions)
    n, c, height, width = x.shape
    shape = len(images), c, rows[0].shape[1], columns[0].shape[1]
    y = np.empty((shape[0] * c, shape[2] * shape[3]), x.dtype)
    places = np.empty(y.shape, np.intp)
    planes = np.ascontiguousarray(x).reshape(n * c, height, width)
    whole = [np.ascontiguousarray(a, np.intp) for a in (images, *rows, *columns)]
    spans = pairwise(parallel.bounds(len(y), LEAST))
    parallel.each(_maxima, [(planes, *whole, y, places, *span) for span in spans])
    full, wide = (stop > start for start, stop in (rows, columns))
    f.seen = full[:, None, :, None] & wide[:, None, None, :]
    f.places = places.reshape(shape)
    return y.reshape(shape)
