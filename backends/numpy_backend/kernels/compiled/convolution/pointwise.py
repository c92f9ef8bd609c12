"""Convolutions whose windows are single places: for each image a product of matrices.

An image is a matrix as it lies, a row for each channel and a column for each place, so nothing is
gathered. The rows that come out, counted over images, are divided among threads.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    LOWEST,
    biases_of,
    is_small,
    parts,
    parts_at_most,
)
from backends.numpy_backend.kernels.compiled.products.blocked import blocks, room_for
from backends.numpy_backend.kernels.compiler import (
    FLOATS,
    Read1,
    Real,
    Write1,
    Write2,
    compiled,
    contiguous,
)
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry

PLACES = 64  # of an image; fewer leave lanes empty, and several images go together where filters
FILTERS = 1 << 15  # are of more elements
FEW = 4  # places, for fewer of which nothing is gained
ROWS = 16  # of a part at least


def suits(g: Geometry, dtype: Any, filters: int = 0) -> bool:
    """Whether each place has a window of its own, and images are products with so many elements.

    Sums over images take them one by one, whatever is summed.
    """
    if max(g.ksize) > 1 or max(g.stride) > 1 or any(g.pad):
        return False
    return prod(g.size) >= (FEW if filters <= FILTERS else PLACES) and dtype in FLOATS


@compiled
def _products(
    W: Read1,
    x: Read1,
    b: Read1,
    y: Write2,
    turned: int,
    groups: int,
    channels: int,
    bias: int,
    floor: Real,
    start: int,
    stop: int,
) -> None:
    """Rows of `y`, each of a filter's products with the channels of its group and image.

    Filters are rows of W, or with `turned` columns of each group's part of it.
    """
    places, images = y.shape[1], x.size // (groups * channels * y.shape[1])
    every = y.shape[0] // images
    filters = every // groups
    row, column = (1, filters) if turned else (channels, 1)
    room = np.empty(room_for(channels, places, y.itemsize), y.dtype)
    while start < stop:
        image, place = start // every, start % every
        group, first = place // filters, place % filters
        count = min(stop - start, filters - first)
        at = (image * groups + group) * channels * places
        blocks(
            y[start:], room, b, 0, W[group * filters * channels + first * row :], row, column,
            x[at:], places, 1, channels, places, 0, count, 0, places, 0,
        )  # fmt: skip
        for i in range(start, start + count if bias or floor > LOWEST else start):
            line, more = y[i], b[(place + i - start) * bias]
            for j in range(line.size):
                value = line[j] + more
                line[j] = floor if value < floor else value
        start += count


@compiled
def _sums(
    y: Read1,
    x: Read1,
    W: Write1,
    groups: int,
    channels: int,
    filters: int,
    places: int,
    start: int,
    stop: int,
) -> None:
    """Rows of `W`: the sums over images of each filter's products with each channel."""
    images = x.size // (groups * channels * places)
    room = np.empty(room_for(places, channels, W.itemsize), W.dtype)
    while start < stop:
        group, first = start // filters, start % filters
        count = min(stop - start, filters - first)
        for image in range(images):
            at, other = (image * groups * filters + start), (image * groups + group) * channels
            blocks(
                W[start * channels :], room, y, 0, y[at * places :], places, 1,
                x[other * places :], 1, places, places, channels, 0, count, 0, channels, image,
            )  # fmt: skip
        start += count


def convolution(
    x: Array,
    W: Array,
    b: Array | None,
    y: Array,
    groups: int = 1,
    floor: float = LOWEST,
    turned: bool = False,
) -> None:
    """Put the convolution into `y`; with `turned` the deconvolution, whose filters W has second."""
    if not y.size:
        return
    channels = x.shape[1] // groups
    rows, (biases, bias) = y.shape[0] * y.shape[1], biases_of(b, y.dtype)
    lines = y.reshape(rows, -1)
    known = int(turned), groups, channels, bias, y.dtype.type(floor)
    arguments = *contiguous(W, x), biases, lines, *known
    _divided(_products, rows, y.size * channels, arguments)


def filter_gradient(x: Array, y: Array, groups: int, ksize: tuple[int, ...]) -> Array:
    """The gradient of the filters."""
    (images, rows), channels = y.shape[:2], x.shape[1] // groups
    W: Array = np.zeros((rows, channels, *ksize), y.dtype)
    if y.size:
        known = groups, channels, rows // groups, y.size // (images * rows)
        arguments = *contiguous(y, x), W.reshape(-1), *known
        _divided(_sums, rows, y.size * channels, arguments)
    return W


def _divided(loop: Any, rows: int, products: int, arguments: tuple[Any, ...]) -> None:
    most, small = parts_at_most(products), is_small(products)
    parallel.each(loop, [(*arguments, *p) for p in parts(rows, ROWS, most)], small=small)
