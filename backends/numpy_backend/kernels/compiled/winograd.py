"""Convolution by windows of three by three, two by two outputs at a time, with 16 products for 36.

Lavin, Gray: Fast Algorithms for Convolutional Neural Networks (2016), F(2x2, 3x3). With d the four
by four inputs of a tile and w a filter, the outputs are A^T ((G w G^T) * (B^T d B)) A, where the
sum over channels is taken inside: sixteen products of matrices, one for each place of a tile. So
the tiles are windows of four by four, two apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution_plans import (
    BAND,
    Axes,
    Plan,
    biases_of,
    is_small,
    parts,
    parts_at_most,
    plan_of,
    scratch,
)
from backends.numpy_backend.kernels.compiled.convolution_room import Sizes, Walk, gathering
from backends.numpy_backend.kernels.compiled.elementary import HALF
from backends.numpy_backend.kernels.compiled.panels import (
    LANE_BYTES,
    fill,
    product,
    weave,
)
from backends.numpy_backend.kernels.compiler import (
    Indices,
    Read1,
    Read2,
    Write1,
    Write2,
    compiled,
    contiguous,
    inlined_exactly,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry

TILED_CHANNELS = 16  # of which the sums are, at least
TILED_PLACES = 256  # for which filters are worth their own transformation
SUMMED_PLACES = 1024  # the same of sums over places, which are transformed back
PLACES = 16  # of a tile
APART = 16  # elements between the transformed filters for a place and those for the next
LEAST_FILTERS = 4096  # in one channel each: of a part that is transformed

# -- filters, and what becomes of them -------------------------------------------------------------


@inlined_exactly
def _spread_three(a: Any, b: Any, c: Any) -> Any:
    """`G` by a column."""
    ends, middle = (a + c) * HALF, b * HALF
    return a, ends + middle, ends - middle, c


@compiled
def transform_filters(W: Read2, U: Write2, turned: int, start: int, stop: int) -> None:
    """`G w G^T` of filters (n, 9), turned around for `turned`, into (16, n)."""
    k, by = (8, -1) if turned else (0, 1)
    for f in range(start, stop):
        w = W[f]
        p = _spread_three(w[k], w[k + 3 * by], w[k + 6 * by])
        q = _spread_three(w[k + by], w[k + 4 * by], w[k + 7 * by])
        r = _spread_three(w[k + 2 * by], w[k + 5 * by], w[k + 8 * by])
        for i in range(4):
            u = _spread_three(p[i], q[i], r[i])
            U[4 * i, f], U[4 * i + 1, f], U[4 * i + 2, f], U[4 * i + 3, f] = u


# -- tiles -----------------------------------------------------------------------------------------


def both_ways(f: Callable[..., Sequence[Any]], square: Sequence[Sequence[Any]]) -> list[Any]:
    """`f` of each row, and then of each column: M s M^T for a matrix M, row by row."""
    columns = zip(*[f(*row) for row in square], strict=True)
    return [value for row in zip(*[f(*column) for column in columns], strict=True) for value in row]


def transformed(e: Emitter, d: Sequence[Sequence[Any]]) -> list[Any]:
    """`B^T d B` of a tile."""
    add, less = e.builder.fadd, e.builder.fsub

    def rows(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
        return [less(a, c), add(b, c), less(c, b), less(b, d)]

    return both_ways(rows, d)


@emitted
def _transform(e: Emitter, to: Any, inputs: Any, channels: Any, sizes: Any) -> None:
    """`B^T d B` of a panel whose rows are places of channels, into a panel for each place."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    with e.loop(channels) as c, e.loop(s.lanes, e.lanes) as lane:
        tile = e.at(inputs, c * PLACES * s.lanes + lane)
        d = [e.load(e.at(tile, s.lanes * i)) for i in range(PLACES)]
        for i, value in enumerate(transformed(e, [d[i : i + 4] for i in range(0, PLACES, 4)])):
            e.store(value, e.at(to, (channels * i + c) * s.lanes + lane))


@emitted
def _outputs(e: Emitter, to: Any, products: Any, b: Any, bias: Any, sizes: Any) -> None:
    """`A^T m A + b` of the products for each place, into a panel with four rows for each filter."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    add, less = e.builder.fadd, e.builder.fsub

    def rows(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
        return [add(add(a, b), c), less(less(b, c), d)]

    with e.loop(s.filters) as f, e.loop(s.lanes, e.lanes) as lane:
        first = e.broadcast(e.read(e.at(b, f * bias)))
        m = [
            e.load(e.at(products, ((s.filters + 8) * i + f) * s.lanes + lane))
            for i in range(PLACES)
        ]
        for i, value in enumerate(both_ways(rows, [m[i : i + 4] for i in range(0, PLACES, 4)])):
            e.store(add(value, first), e.at(to, (f * 4 + i) * s.lanes + lane))


@emitted
def _tiles(
    e: Emitter,
    x: Any,
    U: Any,
    b: Any,
    zero: Any,
    y: Any,
    room: Any,
    one: Any,
    other: Any,
    offsets: Any,
    sizes: Any,
    pitch: Any,
    row: Any,
    column: Any,
    bias: Any,
    height: Any,
    width: Any,
    start: Any,
    stop: Any,
) -> None:
    # One panel holds what is gathered and then the products, the other what is transformed.
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    fill(e, room, 0, s.channels * s.plane, e.constant(0.0))
    walk, back = Walk(e, s, start), Walk(e, s, start)
    filled, group = e.variable(e.number(-1)), e.number(0)
    with e.loop(stop, s.lanes, start) as q:
        count = s.lanes.least(stop - q)
        gathering(
            *(e, s, walk, filled, room, x, one, offsets, sizes, count),
            *(group, group, s.channels),
        )
        _transform(e, other, one, s.channels, sizes)
        with e.loop(PLACES) as i:
            to = e.at(one, i * (s.filters + 8) * s.lanes)
            matrix = e.at(U, i * pitch)
            panel = e.at(other, i * s.channels * s.lanes)
            product(e, to, matrix, row, column, zero, 0, panel, s.filters, s.channels, count)
        _outputs(e, other, one, b, bias, sizes)
        for lane, n, d, _, w, run in back.runs(count):
            pairs = run.least((width - w * 2) // 2)
            with e.loop(s.filters) as f:
                for j in range(2):
                    with e.when(d * 2 + j < height):
                        to = ((n * s.filters + f) * height + d * 2 + j) * width + w * 2
                        even = (f * 4 + 2 * j) * s.lanes + lane
                        weave(e, y, to, other, even, even + s.lanes, pairs)
                        with e.when(pairs < run):
                            last = e.read(e.at(other, even + pairs))
                            e.write(last, e.at(y, to + pairs * 2))


@compiled
def convolve_tiles(
    x: Read1,
    U: Read1,
    b: Read1,
    zero: Read1,
    y: Write1,
    room: Write2,
    one: Write2,
    other: Write2,
    offsets: Indices,
    sizes: Indices,
    pitch: int,
    row: int,
    column: int,
    bias: int,
    height: int,
    width: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """The tiles from `start` to `stop`, of outputs of a height and width."""
    _tiles(
        x,
        U,
        b,
        zero,
        y,
        room[thread],
        one[thread],
        other[thread],
        offsets,
        sizes,
        pitch,
        row,
        column,
        bias,
        height,
        width,
        start,
        stop,
    )


# -- what offers them ------------------------------------------------------------------------------


def suits(
    g: Geometry, groups: int, images: int, channels: int, filters: int, summed: bool = False
) -> bool:
    """Whether there are fewer products in all, with what is done before and after them.

    With `summed` they are summed over places, for the gradient of filters.
    """
    return (
        g.ksize == (3, 3)
        and g.stride == g.dilate == (1, 1)
        and groups == 1
        and min(channels, filters) >= TILED_CHANNELS
        and images * prod(g.out) >= (SUMMED_PLACES if summed else TILED_PLACES)
    )


def _plan(x: Array, y: Array, pad: tuple[int, ...], lane_bytes: int) -> Plan:
    tiles = [-(-size // 2) for size in y.shape[2:]]
    sizes = (x.shape[2:], (4, 4), (2, 2), pad, (1, 1), tiles)
    axes = Axes(*[(of[0], one, of[1]) for of, one in zip(sizes, (1, 1, 1, 0, 1, 1), strict=True)])
    channels = x.shape[1], y.shape[1]
    return plan_of(axes, 1, *channels, lane_bytes // x.itemsize, BAND // x.itemsize // 2)


def convolution(
    x: Array, W: Array, b: Array | None, y: Array, pad: tuple[int, ...], turned: bool = False
) -> None:
    """`y`; for `turned` from filters turned around, with their two axes exchanged."""
    dtype, channels, outer = x.dtype, x.shape[1], y.shape[1]
    height, width = y.shape[2:]
    plan = _plan(x, y, pad, LANE_BYTES)
    s = plan.sizes
    biases, bias = biases_of(b, dtype)
    # One after the other at a power of two they would drive each other from the cache.
    U = np.empty((PLACES, W.size // 9 + APART), dtype)
    filters = contiguous(W)[0].reshape(-1, 9)
    parallel.divide(transform_filters, len(filters), LEAST_FILTERS, filters, U, int(turned))
    arrays = [*contiguous(x, U), biases, np.zeros(1, dtype), y.reshape(-1)]
    steps = (U.shape[1], 1, outer) if turned else (U.shape[1], channels, 1)
    spans = parts(len(x) * s.places, s.lanes, parts_at_most(y.size * channels * 4))

    panels = (
        scratch("room", channels * s.plane, dtype),
        scratch("inputs", PLACES * max(channels, outer + 8) * s.lanes, dtype),
        scratch("outputs", max(PLACES * channels, 4 * outer) * s.lanes, dtype),
    )
    known = (*arrays, *panels, plan.offsets, plan.numbers, *steps, bias, height, width)
    parallel.each(
        convolve_tiles,
        [(*known, *span, 0) for span in spans],
        small=is_small(y.size * channels * 4),
    )
