"""Convolution by windows of three by three, two by two outputs at a time, with 16 products for 36.

Lavin, Gray: Fast Algorithms for Convolutional Neural Networks (2016), F(2x2, 3x3). With d the four
by four inputs of a tile and w a filter, the outputs are A^T ((G w G^T) * (B^T d B)) A, where the
sum over channels is taken inside: sixteen products of matrices, one for each place of a tile. Rows
of these are tiles; filters lie side by side, in vectors. A filter that lies on several slices has
as many times its channels.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    LOWEST,
    is_small,
    parts,
    parts_at_most,
    scratch,
)
from backends.numpy_backend.kernels.compiled.convolution.tiles import (
    APART,
    CHANNELS,
    PLACES,
    Tiles,
    bands_of_tiles,
    both_ways,
    inputs_of_tiles,
    taps_of,
    tiles_of,
)
from backends.numpy_backend.kernels.compiled.products.panels import (
    add_multiples,
    at_least,
    fill,
    in_tiles,
    turn,
    turn_back,
)
from backends.numpy_backend.kernels.compiler import (
    Indices,
    Read1,
    Real,
    Write1,
    Write2,
    compiled,
    contiguous,
)
from backends.numpy_backend.kernels.emitter import Emitter, Number, emitted
from backends.numpy_backend.placement import in_lines
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry

TILED_CHANNELS = 16  # of which the sums are, at least
TILED_PLACES = 256  # for which filters are worth their own transformation
SUMMED_PLACES = 1024  # the same of sums over places, which are transformed back
TILES = 64  # in panels, unless channels are many
PANELS = 1 << 17  # elements of inputs in these, a quarter of a second-level cache
FILTERS = 32  # side by side: as many as channels
HIGHEST = 12  # tiles that are multiplied together, at most
LEAST_FILTERS = 4096  # in one channel each: of a part that is transformed


@emitted
def _filters(
    e: Emitter,
    W: Any,
    U: Any,
    room: Any,
    place: Any,
    outer: Any,
    channels: Any,
    taps: Any,
    row: Any,
    column: Any,
    back: Any,
    start: Any,
    stop: Any,
) -> None:
    add, less = e.builder.fadd, e.builder.fsub
    half = e.broadcast(e.constant(0.5))

    def spread(a: Any, b: Any, c: Any) -> list[Any]:
        ends, middle = (e.builder.fmul(of, half) for of in (add(a, c), b))
        return [a, add(ends, middle), less(ends, middle), c]

    inner, blocks = taps * channels, (outer + FILTERS - 1) // FILTERS
    fill(e, room, 0, 9 * FILTERS, e.constant(0.0))
    with e.loop(stop, 1, start) as unit:
        block, tap, c = unit // inner, unit % inner // channels, unit % channels
        f = block % blocks * FILTERS
        slice = e.choose(back.equals(0), tap, taps - 1 - tap) + block // blocks * inner * outer
        own = f * row + c * column + slice * 9
        turn(e, room, 0, FILTERS, W, own, row, (outer - f).least(FILTERS), 9)
        to = e.at(U, block * PLACES * place + unit % inner * FILTERS)
        with e.loop(FILTERS, e.lanes) as lane:
            taps = [e.choose(back.equals(0), k, 8 - k) for k in range(9)]
            w = [e.load(e.at(room, tap * FILTERS + lane)) for tap in taps]
            for i, value in enumerate(both_ways(spread, [w[k : k + 3] for k in (0, 3, 6)])):
                e.store(value, e.at(to, place * i + lane))


@compiled
def transform_filters(
    W: Read1,
    U: Write1,
    room: Write2,
    place: int,
    outer: int,
    channels: int,
    taps: int,
    row: int,
    column: int,
    back: int,
    thread: int,
    start: int,
    stop: int,
) -> None:
    """`G w G^T` of filters, turned around for `back`.

    That of an outer channel and an inner one is at so many rows and columns of `W`. Of each block
    of the outer ones of a group there is a matrix for each place, with a row for each inner one in
    each slice: units of these are from `start` to `stop`.
    """
    _filters(W, U, room[thread], place, outer, channels, taps, row, column, back, start, stop)


@emitted
def _product(
    e: Emitter,
    to: Any,
    inputs: Any,
    apart: Any,
    U: Any,
    tiles: Any,
    taps: Any,
    channels: Any,
    filters: Any,
) -> None:
    """Sums of products of tiles, whose channels are in panels `apart`, and filters.

    Beyond `tiles`, up to the end of half a block, is anything.
    """
    height, vectors = (HIGHEST, 2) if e.wide.number == 32 else (HIGHEST // 2, 2)
    chunks = (channels + CHANNELS - 1) // CHANNELS
    zeros = e.broadcast(e.constant(0.0))

    def block(height: int, vectors: int, t: Number, lane: Number) -> None:
        sums = [[e.variable(zeros) for _ in range(vectors)] for _ in range(height)]
        with e.loop(taps) as tap, e.loop(channels, CHANNELS) as c:
            panel = e.at(inputs, (tap * chunks + c // CHANNELS) * apart + t * CHANNELS)
            matrix = e.at(U, (tap * channels + c) * FILTERS + lane)
            with e.loop((channels - c).least(CHANNELS)) as d:
                line, own = e.at(matrix, d * FILTERS), e.at(panel, d)
                add_multiples(e, sums, line, (e.at(own, i * CHANNELS) for i in range(height)))
        for i, totals in enumerate(sums):
            for j, total in enumerate(totals):
                e.store(total.get(), e.at(to, (t + i) * FILTERS + lane + j * e.lanes))

    in_tiles(e, block, tiles, height, filters, vectors)


@emitted
def _outputs(
    e: Emitter,
    room: Any,
    line: Any,
    products: Any,
    apart: Any,
    b: Any,
    floor: Any,
    rows: Any,
    across: Any,
    filters: Any,
) -> None:
    """`max(A^T m A + b, floor)` of a band of tiles, in rows with their filters side by side."""
    add, less = e.builder.fadd, e.builder.fsub

    def gather(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
        return [add(add(a, b), c), less(less(b, c), d)]

    with e.loop(rows) as i, e.loop(across) as j, e.loop(filters, e.lanes) as f:
        tile = e.at(products, (i * across + j) * FILTERS + f)
        corner = e.at(room, (i * line + j) * (2 * FILTERS) + f)
        m = [e.load(e.at(tile, apart * k)) for k in range(PLACES)]
        found = both_ways(gather, [m[k : k + 4] for k in range(0, PLACES, 4)])
        first = e.load(e.at(b, f))
        for k, value in enumerate(found):
            place = (line * (k // 2) + k % 2) * FILTERS
            e.store(at_least(e, floor, add(value, first)), e.at(corner, place))


@emitted
def _tiles(
    e: Emitter,
    x: Any,
    U: Any,
    b: Any,
    y: Any,
    seen: Any,
    inputs: Any,
    products: Any,
    found: Any,
    sizes: Any,
    place: Any,
    floor: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Tiles(*e.numbers(sizes, len(Tiles._fields)))
    fill(e, seen, 0, s.seen, e.constant(0.0))
    panel, line = s.most * CHANNELS, s.across * 2
    chunks, blocks = ((n + CHANNELS - 1) // CHANNELS for n in (s.channels, s.filters))
    of_x = s.taps * chunks * panel + APART
    of_y = (s.most + HIGHEST) * FILTERS + APART
    plane, tiles = s.out_h * s.out_w, e.variable(e.number(0))
    with e.loop(stop, s.together, start) as q, e.loop(s.groups) as group:
        last = (q + s.together).least(stop)
        with e.loop(s.taps) as tap, e.loop(s.channels, CHANNELS) as c:
            to = e.at(inputs, (tap * chunks + c // CHANNELS) * panel)
            inputs_of_tiles(e, s, to, of_x, seen, x, group, tap, c, (q, last, tiles))
        with e.loop(s.filters, FILTERS) as f:
            filters, block = (s.filters - f).least(FILTERS), group * blocks + f // FILTERS
            full = (filters + e.lanes - 1) & -e.lanes
            with e.loop(PLACES) as i:
                matrix = e.at(U, (block * PLACES + i) * place)
                to, own = e.at(products, i * of_y), e.at(inputs, i * of_x)
                counts = tiles.get(), s.taps, s.channels, full
                _product(e, to, own, panel, matrix, *counts)
            for n, first, rows, tile in bands_of_tiles(e, s, q, last, tiles):
                own, bias = e.at(products, tile * FILTERS), e.at(b, block * FILTERS)
                _outputs(e, found, line, own, of_y, bias, floor, rows, s.across, full)
                channel = (n // s.out_d * s.groups + group) * s.filters + f
                slice = channel * s.out_d + n % s.out_d
                with e.loop((rows * 2).least(s.out_h - first * 2)) as i:
                    to = slice * plane + (first * 2 + i) * s.out_w
                    own = e.at(found, i * line * FILTERS)
                    turn_back(e, y, to, plane * s.out_d, own, 0, FILTERS, filters, s.out_w)


@compiled
def convolve_tiles(
    x: Read1,
    U: Read1,
    b: Read1,
    y: Write1,
    seen: Write2,
    inputs: Write2,
    products: Write2,
    found: Write2,
    sizes: Indices,
    place: int,
    floor: Real,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """The outputs of bands from `start` to `stop`."""
    _tiles(
        x,
        U,
        b,
        y,
        seen[thread],
        inputs[thread],
        products[thread],
        found[thread],
        sizes,
        place,
        floor,
        start,
        stop,
    )


# -- what offers them ------------------------------------------------------------------------------


def suits(g: Geometry, images: int, channels: int, filters: int, summed: bool = False) -> bool:
    """Whether there are fewer products in all, with what is done before and after them.

    Channels and filters are those of a group. With `summed` products are summed over places, for
    the gradient of filters.
    """
    return (
        len(g.ksize) > 1
        and g.ksize[-2:] == (3, 3)
        and {*g.stride, *g.dilate} == {1}
        and min(channels, filters) >= TILED_CHANNELS
        and images * prod(g.out) >= (SUMMED_PLACES if summed else TILED_PLACES)
    )


def convolution(
    g: Geometry,
    x: Array,
    W: Array,
    b: Array | None,
    y: Array,
    groups: int = 1,
    back: bool = False,
    floor: float = LOWEST,
) -> None:
    """`y`; for `back` that of filters turned around, with their first two axes exchanged."""
    dtype, channels, outer = x.dtype, x.shape[1] // groups, y.shape[1] // groups
    inner = taps_of(g) * channels
    most = max(HIGHEST, min(TILES, PANELS // (PLACES * inner)))
    s = tiles_of(g, groups, channels, outer, most, back)
    blocks, place, each = -(-outer // FILTERS), inner * FILTERS + APART, 9 * s.taps
    U = in_lines((groups * blocks * PLACES * place,), dtype)
    steps = (each, outer * each, 1) if back else (channels * each, each, 0)
    known = (scratch("filters", 9 * FILTERS, dtype), place, outer, channels, s.taps, *steps, 0)
    units, least = groups * blocks * inner, -(-LEAST_FILTERS // FILTERS)
    parallel.divide(transform_filters, units, least, contiguous(W)[0], U, *known)
    biases = np.zeros((groups, blocks * FILTERS), dtype)
    if b is not None:
        biases[:, :outer] = b.reshape(groups, outer)

    chunks, products = s.taps * -(-channels // CHANNELS), y.size * inner * 4
    panels = (
        scratch("seen", s.seen, dtype),
        scratch(
            "inputs", PLACES * (chunks * s.most * CHANNELS + APART) + HIGHEST * CHANNELS, dtype
        ),
        scratch("products", PLACES * ((s.most + HIGHEST) * FILTERS + APART), dtype),
        scratch("found", s.band * s.across * 4 * FILTERS, dtype),
    )
    numbers = np.array(s, np.intp), place, dtype.type(floor)
    arrays = (contiguous(x)[0], U, biases.reshape(-1), y.reshape(-1), *panels, *numbers)
    spans = parts(len(x) * s.out_d * s.bands, s.together, parts_at_most(products))
    parallel.each(convolve_tiles, [(*arrays, *span, 0) for span in spans], small=is_small(products))
