"""Convolution and its adjoints over maps of few places, without products with padding.

On maps of two by two, windows of three by three lie on padding with five of their nine places. So
places are taken one by one, each with the list of those that it meets: images lie side by side in
a vector's lanes, or channels where sums run over images.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    LEAST,
    LOWEST,
    Axes,
    axes_of,
    biases_of,
    scratch,
)
from backends.numpy_backend.kernels.compiled.products.panels import add_multiples, fill, turn_back
from backends.numpy_backend.kernels.compiler import (
    Indices,
    Read1,
    Read2,
    Read3,
    Real,
    Write1,
    Write2,
    Write3,
    compiled,
    contiguous,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.placement import LINE
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry

FEW = 256  # places of all images
TOGETHER = 16  # images or channels side by side: as many as a vector may have lanes
BLOCK = 16  # of the sums of a product that are taken before the next place has its turn

TURNED = 32768  # elements of a part that changes its order
APART = 32  # elements of room behind channels, into which the last vectors of a tile may reach
ROWS, COLUMNS = 12, 32  # of a tile of the filters' gradient, at most


class Meetings(NamedTuple):
    """Which place of a map meets which of the other, and in which place of a filter."""

    outer: Array
    inner: Array
    taps: Array

    def by(self, key: Array, size: int) -> tuple[Array, Array]:
        """Where each of `size` begins in an order by `key`, and that order."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=size))])
        return starts, np.argsort(key, kind="stable")


@lru_cache(maxsize=256)
def meetings(g: Axes) -> Meetings:
    """All meetings in a geometry but those with padding."""
    place, inside = np.zeros((1, 1), np.intp), np.ones((1, 1), bool)
    for size, k, s, p, d, out in zip(*(g[i] for i in range(6)), strict=True):
        along = np.arange(out)[:, None] * s + np.arange(k) * d - p
        place = _each_with_each(np.add, place * size, along)
        inside = _each_with_each(np.logical_and, inside, (along >= 0) & (along < size))
    outer, taps = np.nonzero(inside)
    return Meetings(outer, place[inside], taps)


def _each_with_each(function: Any, a: Array, b: Array) -> Array:
    """`function` of each pair (place, tap) along some axes with each along the next axis."""
    both: Array = function(a[:, None, :, None], b[None, :, None, :])
    return both.reshape(a.shape[0] * b.shape[0], -1)


# -- loops -----------------------------------------------------------------------------------------


@compiled
def _turn(x: Read2, to: Write2, start: int, stop: int) -> None:
    """`to[i] = x[:, i]`, and zeros behind it."""
    for first in range(start, stop, TOGETHER):
        last = min(first + TOGETHER, stop)
        for n in range(x.shape[0]):
            for i in range(first, last):
                to[i, n] = x[n, i]
        for i in range(first, last):
            for n in range(x.shape[0], to.shape[1]):
                to[i, n] = 0


@compiled
def _turn_each(x: Read3, to: Write3, start: int, stop: int) -> None:
    """`to[n, :, : x.shape[1]] = x[n].T`."""
    for n in range(start, stop):
        for first in range(0, x.shape[1], TOGETHER):
            for i in range(x.shape[2]):
                for c in range(first, min(first + TOGETHER, x.shape[1])):
                    to[n, i, c] = x[n, c, i]


@emitted
def _products(
    e: Emitter,
    to: Any,
    W: Any,
    b: Any,
    x: Any,
    starts: Any,
    taps: Any,
    places: Any,
    outs: Any,
    plane: Any,
    lanes: Any,
    depth: Any,
    row: Any,
    column: Any,
    bias: Any,
    low: Any,
    high: Any,
) -> None:
    height, vectors = (8, 2) if e.wide.number == 32 else (6, 2)

    def tile(vectors: int, r: Any, o: Any, lane: Any, above: Any, below: Any) -> None:
        # A tile that has fewer rows computes its last one several times.
        own = [(r + i).least(high - 1) for i in range(height)]
        lines = [e.at(W, place * row) for place in own]
        held = [
            [e.at(to, (place * outs + o) * lanes + lane + j * e.lanes) for j in range(vectors)]
            for place in own
        ]
        sums = [[e.variable(e.load(place)) for place in along] for along in held]
        first, last = e.numbers(e.at(starts, o), 2)
        with e.loop(below, 1, above) as d, e.loop(last, 1, first) as k:
            [tap], [place] = (e.numbers(e.at(of, k), 1) for of in (taps, places))
            source, along = e.at(x, d * plane + place + lane), d * column + tap
            add_multiples(e, sums, source, (e.at(line, along) for line in lines))
        for along, totals in zip(held, sums, strict=True):
            for place, total in zip(along, totals, strict=True):
                e.store(total.get(), place)

    with e.loop(high, 1, low) as r:
        fill(e, to, r * outs * lanes, outs * lanes, e.read(e.at(b, r * bias)))
    with e.loop(high, height, low) as r, e.loop(depth, BLOCK) as d:
        below = (d + BLOCK).least(depth)
        with (
            e.when(row < column),  # filters in as many pages: the processor cannot see what follows
            e.loop((below + BLOCK).least(depth), 1, below) as soon,
            e.loop(row * height, LINE // e.bytes) as i,
        ):
            e.prefetch(e.at(W, r * row + soon * column + i))
        with (
            e.loop(outs) as o,
            e.loop(lanes, vectors * e.lanes) as lane,
            e.whether(lanes - lane <= e.lanes) as cases,
        ):
            for case, across in zip(cases, (1, vectors), strict=True):
                with case:
                    tile(across, r, o, lane, d, below)


@emitted
def _sums(
    e: Emitter,
    W: Any,
    y: Any,
    x: Any,
    panel: Any,
    starts: Any,
    ours: Any,
    theirs: Any,
    taps: Any,
    channels: Any,
    low: Any,
    high: Any,
) -> None:
    height, vectors = (ROWS, 2) if e.wide.number == 32 else (ROWS // 2, 2)
    width = vectors * e.lanes
    with e.loop(high, height, low) as r, e.loop(channels, width) as c:
        source = e.at(x, c)
        with e.loop(taps) as tap:
            zeros = e.broadcast(e.constant(0.0))
            sums = [[e.variable(zeros) for _ in range(vectors)] for _ in range(height)]
            first, last = e.numbers(e.at(starts, tap), 2)
            with e.loop(last, 1, first) as k:
                [our], [their] = (e.numbers(e.at(of, k), 1) for of in (ours, theirs))
                here, there = e.at(y, our + r), e.at(source, their)
                # Beyond the last filter sums are not kept.
                add_multiples(e, sums, there, (e.at(here, i) for i in range(height)))
            for i, totals in enumerate(sums):
                for j, total in enumerate(totals):
                    e.store(total.get(), e.at(panel, (taps * i + tap) * width + j * e.lanes))
        with e.loop((high - r).least(height)) as own:
            to, rows = ((r + own) * channels + c) * taps, (channels - c).least(width)
            turn_back(e, W, to, taps, panel, taps * own * width, width, rows, taps)


@compiled
def multiply_few(
    x: Read2,
    W: Read1,
    b: Read1,
    y: Write2,
    turned: Write2,
    starts: Indices,
    taps: Indices,
    places: Indices,
    outs: int,
    plane: int,
    depth: int,
    row: int,
    column: int,
    bias: int,
    floor: Real,
    start: int,
    stop: int,
) -> None:
    """Rows from `start` to `stop` of the result, which has images side by side, and as asked.

    There it is at least floor.
    """
    _products(
        turned,
        W,
        b,
        x,
        starts,
        taps,
        places,
        outs,
        plane,
        x.shape[1],
        depth,
        row,
        column,
        bias,
        start,
        stop,
    )
    for first in range(start * outs, stop * outs, TOGETHER):
        for n in range(y.shape[0]):
            for i in range(first, min(first + TOGETHER, stop * outs)):
                value = turned[i, n]
                y[n, i] = floor if value < floor else value


@compiled
def sum_few(
    x: Read3,
    y: Read3,
    W: Write1,
    panels: Write2,
    starts: Indices,
    ours: Indices,
    theirs: Indices,
    taps: int,
    channels: int,
    thread: int,
    start: int,
    stop: int,
) -> None:
    """The filters from `start` to `stop`."""
    _sums(W, y, x, panels[thread], starts, ours, theirs, taps, channels, start, stop)


# -- what offers them ------------------------------------------------------------------------------


def suits(g: Geometry, groups: int, images: int) -> bool:
    """Whether places are few, and more of them on padding than lanes without an image.

    Windows of one place make no sums, so that nothing comes of a list of what they meet.
    """
    if groups != 1 or not images or images * prod(g.out) > FEW or max(g.ksize) == 1:
        return False
    products = images * prod(g.out) * prod(g.ksize)
    return _together(images) * meetings(axes_of(g)).taps.size <= products


def suits_sums(g: Geometry, groups: int, images: int, channels: int) -> bool:
    """Whether sums over places are shorter than what is done about each."""
    return groups == 1 and images * prod(g.out) <= FEW and channels % TOGETHER == 0


def _together(count: int) -> int:
    return -(-count // TOGETHER) * TOGETHER


@lru_cache(maxsize=256)
def _of_places(g: Axes, lanes: int, back: bool) -> tuple[Array, Array, Array]:
    """For each place of the result: where its meetings begin, their taps, and where in `x`."""
    m = meetings(g)
    key, other = (m.inner, m.outer) if back else (m.outer, m.inner)
    starts, order = m.by(key, prod(g.size if back else g.out))
    return starts, m.taps[order], other[order] * lanes


def convolution(
    g: Geometry,
    x: Array,
    W: Array,
    b: Array | None,
    y: Array,
    back: bool = False,
    floor: float = LOWEST,
) -> None:
    """`y`; with `back` the deconvolution, whose `y` has the size of the geometry."""
    axes, images, taps, lanes = axes_of(g), len(x), prod(g.ksize), _together(len(x))
    starts, used, places = _of_places(axes, lanes, back)
    outs, plane = starts.size - 1, prod(x.shape[2:]) * lanes
    rows, depth = y.shape[1], x.shape[1]
    flat = contiguous(x)[0].reshape(images, -1)
    inputs, turned = (
        np.empty((flat.shape[1], lanes), x.dtype),
        np.empty((rows * outs, lanes), x.dtype),
    )
    parallel.divide(_turn, len(inputs), -(-TURNED // lanes), flat, inputs)
    biases, bias = biases_of(b, x.dtype)
    row, column = (taps, rows * taps) if back else (depth * taps, taps)
    known = (inputs, *contiguous(W), biases, y.reshape(images, -1), turned, starts, used, places)
    least = -(-LEAST // max(1, depth * used.size * images))
    numbers = outs, plane, depth, row, column, bias, x.dtype.type(floor)
    parallel.divide(multiply_few, rows, least, *known, *numbers)


@lru_cache(maxsize=256)
def _of_taps(g: Axes, images: int, outer: int, inner: int) -> tuple[Array, Array, Array]:
    """For each place of a filter: where its meetings begin, and where they are in `y` and `x`."""
    m = meetings(g)
    starts, order = m.by(m.taps, prod(g.ksize))
    n = np.arange(images)[:, None]
    ours, theirs = (m.outer + n * prod(g.out)) * outer, (m.inner + n * prod(g.size)) * inner
    # All images of a meeting follow each other.
    ours, theirs = (a[:, order].T.reshape(-1) for a in (ours, theirs))
    return starts * images, ours, theirs


def _turned_each(x: Array) -> Array:
    """Images with channels side by side, and room behind them."""
    maps = contiguous(x)[0].reshape(*x.shape[:2], prod(x.shape[2:]))
    # One after the other at a power of two they would drive each other from the cache.
    turned = np.empty((len(x), maps.shape[2], x.shape[1] + APART), x.dtype)
    parallel.divide(_turn_each, len(x), -(-TURNED // max(1, maps[:1].size)), maps, turned)
    return turned


def filter_gradient(g: Geometry, x: Array, y: Array) -> Array:
    """The gradient of filters."""
    channels, filters, taps = x.shape[1], y.shape[1], prod(g.ksize)
    W = np.empty((filters, channels, *g.ksize), x.dtype)
    inputs, outputs = _turned_each(x), _turned_each(y)
    lists = _of_taps(axes_of(g), len(x), outputs.shape[2], inputs.shape[2])
    panels = scratch("panel", ROWS * COLUMNS * taps, x.dtype)
    known = (inputs, outputs, W.reshape(-1), panels, *lists)
    least = -(-LEAST // max(1, channels * lists[1].size))
    parallel.divide(sum_few, filters, least, *known, taps, channels, 0)
    return W
