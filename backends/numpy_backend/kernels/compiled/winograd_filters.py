"""The gradient of filters of three by three, by 16 products for 36 (see winograd).

With g the two by two gradients of a tile's outputs and d its four by four inputs, the gradient is
the sum over tiles of G^T ((A g A^T) * (B^T d B)) G. Channels lie side by side, in vectors, so that
sums over tiles are those of outer products: of the 16 places of a tile, each its own matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution_plans import (
    is_small,
    parts,
    parts_at_most,
    scratch,
)
from backends.numpy_backend.kernels.compiled.elementary import HALF
from backends.numpy_backend.kernels.compiled.panels import add_outer, fill, turn
from backends.numpy_backend.kernels.compiled.winograd import PLACES, both_ways, transformed
from backends.numpy_backend.kernels.compiler import (
    Indices,
    Read1,
    Read3,
    Write1,
    Write2,
    compiled,
    contiguous,
    inlined_exactly,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.typing import Array
from core.registry.threads import num_threads

TILES = 64  # over which is summed before sums are put back
CHANNELS = 32  # side by side: half of a second-level cache has them, and
FILTERS = 96  # so many filters for all places; whole tiles and vectors
HALF_TILE = 6  # rows of sums that are computed together, of which there are whole ones
APART = 16  # elements between places: at a power of two they would drive each other from the cache
LEAST_FILTERS = 4096  # in one channel each: of a part that is transformed back


class Tiles(NamedTuple):
    """Whole numbers that the loops know of the shapes, or those of a loop that is written."""

    channels: Any
    filters: Any
    height: Any
    width: Any
    pad_h: Any
    pad_w: Any
    out_h: Any
    out_w: Any
    down: Any  # tiles of an image
    across: Any
    band: Any  # rows of tiles of an image that are turned together
    bands: Any  # of an image
    together: Any  # bands over which is summed before sums are put back
    row: Any  # elements between the sums of a filter and those of the next
    place: Any  # and those of a place and the next

    @property
    def most(self) -> Any:
        """Tiles over which is summed before sums are put back."""
        return self.together * self.band * self.across


@emitted
def _turned(
    e: Emitter,
    room: Any,
    pitch: Any,
    line: Any,
    x: Any,
    channels: Any,
    first: Any,
    rows: Any,
    height: Any,
    width: Any,
    pad: Any,
) -> None:
    """Rows from `first` on of an image, with its channels side by side and zeros around it."""
    plane = height * width
    with e.loop(rows) as i:
        to, row = e.at(room, i * line * pitch), first + i
        with e.whether(row.within(height)) as (inside, outside):
            with inside:
                turn(e, to, pad * pitch, pitch, x, row * width, plane, channels, width)
            with outside:
                fill(e, to, 0, line * pitch, e.constant(0.0))


@emitted
def _inputs(
    e: Emitter, to: Any, apart: Any, room: Any, line: Any, rows: Any, across: Any, channels: Any
) -> None:
    """`B^T d B` of tiles four by four, two apart, into a panel for each place."""
    with e.loop(rows) as i, e.loop(across) as j, e.loop(channels, e.lanes) as c:
        corner = e.at(room, (i * line + j) * (2 * CHANNELS) + c)
        tile = e.at(to, (i * across + j) * CHANNELS + c)
        d = [[e.load(e.at(corner, (line * k + m) * CHANNELS)) for m in range(4)] for k in range(4)]
        for k, value in enumerate(transformed(e, d)):
            e.store(value, e.at(tile, apart * k))


@emitted
def _outputs(
    e: Emitter, to: Any, apart: Any, room: Any, line: Any, rows: Any, across: Any, filters: Any
) -> None:
    """`A g A^T` of tiles two by two, into a panel for each place."""
    add, less = e.builder.fadd, e.builder.fsub

    def spread(a: Any, b: Any) -> list[Any]:
        return [a, add(a, b), less(a, b), e.builder.fneg(b)]

    with e.loop(rows) as i, e.loop(across) as j, e.loop(filters, e.lanes) as f:
        corner = e.at(room, (i * line + j) * (2 * FILTERS) + f)
        tile = e.at(to, (i * across + j) * FILTERS + f)
        g = [[e.load(e.at(corner, (line * k + m) * FILTERS)) for m in range(2)] for k in range(2)]
        for k, value in enumerate(both_ways(spread, g)):
            e.store(value, e.at(tile, apart * k))


@emitted
def _correlation(
    e: Emitter,
    x: Any,
    y: Any,
    total: Any,
    seen: Any,
    given: Any,
    inputs: Any,
    outputs: Any,
    sizes: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Tiles(*e.numbers(sizes, len(Tiles._fields)))
    line, zero = s.across * 2, e.constant(0.0)
    fill(e, seen, 0, (s.band + 1) * (s.across + 1) * (4 * CHANNELS), zero)
    fill(e, given, 0, s.band * s.across * (4 * FILTERS), zero)
    of_x, of_y = s.most * CHANNELS + APART, s.most * FILTERS + APART
    with e.loop(stop, s.together, start) as q, e.loop(s.filters, FILTERS) as f:
        last = (q + s.together).least(stop)
        filters, tiles = (s.filters - f).least(FILTERS), e.variable(e.number(0))
        with e.loop(last, 1, q) as band:
            n, first = band // s.bands, band % s.bands * s.band
            rows, t = s.band.least(s.down - first), tiles.get()
            image = e.at(y, (n * s.filters + f) * s.out_h * s.out_w)
            where = (first * 2, rows * 2, s.out_h, s.out_w, 0)
            _turned(e, given, FILTERS, line, image, filters, *where)
            to, full = e.at(outputs, t * FILTERS), (filters + e.lanes - 1) & -e.lanes
            _outputs(e, to, of_y, given, line, rows, s.across, full)
            tiles.set(t + rows * s.across)
        with e.loop(high, CHANNELS, low) as c:
            channels = (high - c).least(CHANNELS)
            full = (channels + e.lanes - 1) & -e.lanes
            tiles.set(e.number(0))
            with e.loop(last, 1, q) as band:
                n, first = band // s.bands, band % s.bands * s.band
                rows, t = s.band.least(s.down - first), tiles.get()
                image = e.at(x, (n * s.channels + c) * s.height * s.width)
                where = (first * 2 - s.pad_h, rows * 2 + 2, s.height, s.width, s.pad_w)
                _turned(e, seen, CHANNELS, line + 2, image, channels, *where)
                to = e.at(inputs, t * CHANNELS)
                _inputs(e, to, of_x, seen, line + 2, rows, s.across, full)
                tiles.set(t + rows * s.across)
            with e.loop(PLACES) as i:
                to = e.at(total, i * s.place + f * s.row + c)
                a, b = e.at(outputs, i * of_y), e.at(inputs, i * of_x)
                add_outer(e, to, s.row, a, FILTERS, b, CHANNELS, filters, tiles.get(), full)


@compiled
def correlate_tiles(
    x: Read1,
    y: Read1,
    total: Write1,
    seen: Write2,
    given: Write2,
    inputs: Write2,
    outputs: Write2,
    sizes: Indices,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels `low` to `high`, summed over the bands from `start` to `stop`."""
    _correlation(
        x,
        y,
        total,
        seen[thread],
        given[thread],
        inputs[thread],
        outputs[thread],
        sizes,
        low,
        high,
        start,
        stop,
    )


@inlined_exactly
def _gather_four(a: Any, b: Any, c: Any, d: Any) -> Any:
    """`G^T` by a column."""
    both = (b + c) * HALF
    return a + both, (b - c) * HALF, both + d


@compiled
def filters_back(m: Read3, W: Write2, channels: int, start: int, stop: int) -> None:
    """`G^T m G` of sums (16, filters, channels), of each with room behind, into (n, 9)."""
    for f in range(start, stop):
        for c in range(channels):
            p = _gather_four(m[0, f, c], m[4, f, c], m[8, f, c], m[12, f, c])
            q = _gather_four(m[1, f, c], m[5, f, c], m[9, f, c], m[13, f, c])
            r = _gather_four(m[2, f, c], m[6, f, c], m[10, f, c], m[14, f, c])
            s = _gather_four(m[3, f, c], m[7, f, c], m[11, f, c], m[15, f, c])
            w = W[f * channels + c]
            for i in range(3):
                w[3 * i], w[3 * i + 1], w[3 * i + 2] = _gather_four(p[i], q[i], r[i], s[i])


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def filter_gradient(x: Array, y: Array, pad: tuple[int, ...]) -> Array:
    """The gradient of filters of three by three."""
    dtype, (images, channels), outer = x.dtype, x.shape[:2], y.shape[1]
    down, across = [-(-size // 2) for size in y.shape[2:]]
    band = max(1, min(down, TILES // across))
    together = max(1, TILES // (band * across))
    bands, row, rows = -(-down // band), _up(channels, CHANNELS), _up(outer, HALF_TILE)
    known = (down, across, band, bands, together, row, rows * row)
    s = Tiles._make([channels, outer, *x.shape[2:], *pad, *y.shape[2:], *known])
    many = parts_at_most(y.size * channels * 4)
    spans = parts(
        images * bands,
        together,
        max(1, min(many, (x.size + y.size) // (2 * PLACES * outer * channels))),
    )
    ranges = parts(channels, CHANNELS, -(-min(many, num_threads()) // len(spans)))
    totals = [np.zeros(PLACES * s.place, dtype) for _ in spans]
    panels = (
        scratch("seen", (band + 1) * (across + 1) * 4 * CHANNELS, dtype),
        scratch("given", band * across * 4 * FILTERS, dtype),
        scratch("inputs", PLACES * (s.most * CHANNELS + APART), dtype),
        scratch("outputs", PLACES * (s.most * FILTERS + APART), dtype),
    )
    arrays, sizes = contiguous(x, y), np.array(s, np.intp)
    divided = [(t, r, s) for r in ranges for t, s in zip(totals, spans, strict=True)]
    parallel.each(
        correlate_tiles,
        [(*arrays, t, *panels, sizes, *r, *s, 0) for t, r, s in divided],
        small=is_small(y.size * channels * 4),
    )
    for more in totals[1:]:
        totals[0] += more
    W = np.empty((outer, channels, 3, 3), dtype)
    sums = totals[0].reshape(PLACES, rows, row)
    least = -(-LEAST_FILTERS // channels)
    parallel.divide(filters_back, outer, least, sums, W.reshape(-1, 9), channels)
    return W
