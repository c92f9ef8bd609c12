"""The gradient of filters of three by three, by 16 products for 36 (see winograd).

With g the two by two gradients of a tile's outputs and d its four by four inputs, the gradient is
the sum over tiles of G^T ((A g A^T) * (B^T d B)) G. Channels lie side by side, in vectors, so that
sums over tiles are those of outer products: of the 16 places of a tile, each its own matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.plans import (
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
    tiles_of,
    turned,
)
from backends.numpy_backend.kernels.compiled.elementary import HALF
from backends.numpy_backend.kernels.compiled.products.panels import add_outer, fill
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
from core.arrays.windows import Geometry
from core.registry.threads import num_threads

TILES = 64  # over which is summed before sums are put back
FILTERS = 96  # in panels: whole tiles of sums, and vectors
HALF_TILE = 6  # rows of sums that are computed together, of which there are whole ones
LEAST_FILTERS = 4096  # in one channel each: of a part that is transformed back


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
    row: Any,
    place: Any,
    group: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Tiles(*e.numbers(sizes, len(Tiles._fields)))
    line, plane, zero = s.across * 2, s.out_h * s.out_w, e.constant(0.0)
    fill(e, seen, 0, s.seen, zero)
    fill(e, given, 0, s.band * s.across * (4 * FILTERS), zero)
    of_x, of_y = s.most * CHANNELS + APART, s.most * FILTERS + APART
    with e.loop(stop, s.together, start) as q, e.loop(s.filters, FILTERS) as f:
        last, filters = (q + s.together).least(stop), (s.filters - f).least(FILTERS)
        full, tiles = (filters + e.lanes - 1) & -e.lanes, e.variable(e.number(0))
        for n, first, rows, tile in bands_of_tiles(e, s, q, last, tiles):
            channel = (n // s.out_d * s.groups + group) * s.filters + f
            own = e.at(y, (channel * s.out_d + n % s.out_d) * plane)
            where = (first * 2, rows * 2, s.out_h, s.out_w, plane * s.out_d, 0)
            turned(e, given, FILTERS, line, own, filters, *where)
            _outputs(e, e.at(outputs, tile * FILTERS), of_y, given, line, rows, s.across, full)
        with e.loop(s.taps) as tap, e.loop(high, CHANNELS, low) as c:
            inputs_of_tiles(e, s, inputs, of_x, seen, x, group, tap, c, (q, last, tiles))
            full = ((s.channels - c).least(CHANNELS) + e.lanes - 1) & -e.lanes
            with e.loop(PLACES) as i:
                matrix = (group * s.taps + tap) * PLACES + i
                to = e.at(total, matrix * place + f * row + c)
                a, b = e.at(outputs, i * of_y), e.at(inputs, i * of_x)
                add_outer(e, to, row, a, FILTERS, b, CHANNELS, filters, tiles.get(), full)


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
    row: int,
    place: int,
    group: int,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels `low` to `high` of a group, summed over the bands from `start` to `stop`."""
    _correlation(
        x,
        y,
        total,
        seen[thread],
        given[thread],
        inputs[thread],
        outputs[thread],
        sizes,
        row,
        place,
        group,
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


def filter_gradient(g: Geometry, x: Array, y: Array, groups: int = 1) -> Array:
    """The gradient of filters of three by three, on one slice or several."""
    dtype, channels, outer = x.dtype, x.shape[1] // groups, y.shape[1] // groups
    s = tiles_of(g, groups, channels, outer, TILES)
    matrices, products = groups * s.taps, y.size * channels * s.taps * 4
    row, rows = _up(channels, CHANNELS), _up(outer, HALF_TILE)
    # As many sums as threads are worth while, unless putting them together takes long.
    many = parts_at_most(products)
    sums = min(many, (x.size + y.size) // (2 * PLACES * matrices * outer * channels))
    spans = parts(len(x) * s.out_d * s.bands, s.together, max(1, sums))
    chunks = -(-min(many, num_threads()) // (len(spans) * groups))
    ranges = [(group, *r) for group in range(groups) for r in parts(channels, CHANNELS, chunks)]
    totals = [np.zeros(matrices * PLACES * rows * row, dtype) for _ in spans]
    panels = (
        scratch("seen", s.seen, dtype),
        scratch("given", s.band * s.across * 4 * FILTERS, dtype),
        scratch("inputs", PLACES * (s.most * CHANNELS + APART), dtype),
        scratch("outputs", PLACES * (s.most * FILTERS + APART), dtype),
    )
    arrays, known = contiguous(x, y), (*panels, np.array(s, np.intp), row, rows * row)
    divided = [(t, r, s) for r in ranges for t, s in zip(totals, spans, strict=True)]
    parallel.each(
        correlate_tiles,
        [(*arrays, t, *known, *r, *s, 0) for t, r, s in divided],
        small=is_small(products),
    )
    # The room behind sums has anything, of which NumPy would warn.
    found, *others = [t.reshape(matrices, PLACES, rows, row) for t in totals]
    for more in others:
        found[..., :outer, :channels] += more[..., :outer, :channels]
    W = np.empty((groups, s.taps, outer * channels, 9), dtype)
    least = -(-LEAST_FILTERS // channels)
    for total, to in zip(found, W.reshape(matrices, -1, 9), strict=True):
        parallel.divide(filters_back, outer, least, total, to, channels)
    return W.swapaxes(1, 2).reshape(groups * outer, channels, *g.ksize)
