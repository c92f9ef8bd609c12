"""Convolutions whose windows are read where they lie, with filters side by side in vectors' lanes.

A room holds an image with its padding; `windows` says where each window begins in it, `offsets`
how far each place of a filter lies from there. An element for the two is read when it is
multiplied, and nothing is gathered: with W turned so that filters lie side by side,

    convolution             y[window] = b + sum over places of room[window + place] W[place]
    the filters' gradient   W[place] += sum over windows of room[place + window] y[window]

which is one loop, with windows and places in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    LOWEST,
    Plan,
    biases_of,
    divided,
    is_small,
    scratch,
)
from backends.numpy_backend.kernels.compiled.convolution.room import Sizes, bands_of, put
from backends.numpy_backend.kernels.compiled.products.panels import (
    add_multiples,
    copy,
    copy_at_least,
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
from backends.numpy_backend.placement import LINE
from backends.numpy_backend.typing import Array
from core.registry.threads import num_threads

TOGETHER = 80  # windows whose results are turned at once: a multiple of a tile's
SUMMED = 240  # windows that sums take at once, which read more of each filter's results in turn
TILE = 10  # windows that are multiplied at once, at most
PANEL = 32  # filters that two vectors may have
WINDOWS = 256  # of all images, of fewer of which many filters are not turned
FILTERS = 1 << 18  # elements of filters that may be turned for fewer
KEPT = 1 << 14  # windows of a band whose places are kept for long: signals have many lengths
FEW = 8  # filters, which leave most lanes of a sum empty


@emitted
def _products(
    e: Emitter,
    to: Any,
    first: Any,
    pitch: Any,
    room: Any,
    own: Any,
    rows: Any,
    others: Any,
    depth: Any,
    b: Any,
    width: Any,
) -> None:
    """`to[r] = first[r] + sum(room[own[r] + others[d]] * b[d])`, of `width` lanes.

    Rows are of two vectors, those of `first` `pitch` apart. Up to the end of a tile beyond `rows`
    is anything.
    """
    height, across = TILE if e.wide.number == 32 else 6, 2 * e.lanes

    def tile(height: int, vectors: int, r: Number, lane: Number) -> None:
        lines = [
            e.at(room, place)
            for i in range(height)
            for place in e.numbers(e.at(own, (r + i).least(rows - 1)), 1)
        ]
        zeros = e.broadcast(e.constant(0.0))
        sums = [[e.variable(zeros) for _ in range(vectors)] for _ in range(height)]
        with e.loop(depth) as d:
            [other] = e.numbers(e.at(others, d), 1)
            add_multiples(e, sums, e.at(b, d * across), (e.at(line, other) for line in lines))
        for i, totals in enumerate(sums):
            for j, total in enumerate(totals):
                # Products are summed by themselves: many of them, one by one, lose digits.
                before = e.load(e.at(first, (r + i) * pitch + j * e.lanes))
                place = e.at(to, (r + i) * across + j * e.lanes)
                e.store(e.builder.fadd(before, total.get()), place)

    in_tiles(e, tile, rows, height, width, 2)


_products.emit.overlapping = (0, 1)  # sums go on where they are


def _panels(e: Emitter, s: Sizes, turned: Any, low: Any, high: Any) -> Any:
    """Panels of filters: the first, how many, and their memory, with a tile behind the places."""
    across = 2 * e.lanes
    with e.loop(high, across, low) as f:
        yield f, (high - f).least(across), e.at(turned, (f - low) * (s.rows + TILE))


@emitted
def _convolution(
    e: Emitter,
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    room: Any,
    turned: Any,
    outputs: Any,
    offsets: Any,
    windows: Any,
    sizes: Any,
    bias: Any,
    floor: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    across = 2 * e.lanes
    fill(e, room, 0, s.channels * s.plane, e.constant(0.0))
    with e.loop(s.groups) as group:
        first = group * s.filters
        for f, filters, panel in _panels(e, s, turned, low, high):
            turn(e, panel, 0, across, W, (first + f) * s.rows, s.rows, filters, s.rows)
            fill(e, panel, s.rows * across, across, e.constant(0.0))
            with e.when(bias.is_not(0)):
                copy(e, panel, s.rows * across, b, first + f, filters)
        for n, row, count in bands_of(e, s, start, stop):
            image = (n * s.groups + group) * s.channels * s.elements
            put(e, room, e.at(x, image), s.channels, row * s.stride_d, sizes)
            with e.loop(count, TOGETHER) as q:
                now = (count - q).least(TOGETHER)
                for f, filters, panel in _panels(e, s, turned, low, high):
                    _products(
                        *(e, outputs, e.at(panel, s.rows * across), 0, room),
                        *(e.at(windows, q), now, offsets, s.rows, panel, filters),
                    )
                    to = (n * s.groups * s.filters + first + f) * s.places
                    to = to + row * s.out_h * s.out_w + q
                    rows = e.at(outputs, (TOGETHER + TILE) * PANEL)
                    turn_back(e, rows, 0, TOGETHER, outputs, 0, across, filters, now)
                    with e.loop(filters) as i:
                        copy_at_least(e, floor, y, to + i * s.places, rows, i * TOGETHER, now)


@emitted
def _filter_gradient(
    e: Emitter,
    x: Any,
    y: Any,
    W: Any,
    room: Any,
    turned: Any,
    outputs: Any,
    offsets: Any,
    windows: Any,
    sizes: Any,
    group: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    across, first = 2 * e.lanes, group * s.filters
    fill(e, room, 0, s.channels * s.plane, e.constant(0.0))
    for _, _, panel in _panels(e, s, turned, low, high):
        fill(e, panel, 0, s.rows * across, e.constant(0.0))
    for n, row, count in bands_of(e, s, start, stop):
        image = (n * s.groups + group) * s.channels * s.elements
        put(e, room, e.at(x, image), s.channels, row * s.stride_d, sizes)
        with e.loop(count, SUMMED) as q:
            now = (count - q).least(SUMMED)
            for f, filters, panel in _panels(e, s, turned, low, high):
                source = (n * s.groups * s.filters + first + f) * s.places
                source = source + row * s.out_h * s.out_w + q
                turn(e, outputs, 0, across, y, source, s.places, filters, now)
                _products(
                    *(e, panel, panel, across, room, offsets, s.rows),
                    *(e.at(windows, q), now, outputs, filters),
                )
    for f, filters, panel in _panels(e, s, turned, low, high):
        turn_back(e, W, (first + f) * s.rows, s.rows, panel, 0, across, filters, s.rows)


@compiled
def convolve_directly(
    x: Read1,
    W: Read1,
    b: Read1,
    y: Write1,
    room: Write2,
    turned: Write2,
    outputs: Write2,
    offsets: Indices,
    windows: Indices,
    sizes: Indices,
    bias: int,
    floor: Real,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Filters `low` to `high` of each group on the bands from `start` to `stop`."""
    _convolution(
        x,
        W,
        b,
        y,
        room[thread],
        turned[thread],
        outputs[thread],
        offsets,
        windows,
        sizes,
        bias,
        floor,
        low,
        high,
        start,
        stop,
    )


@compiled
def correlate_directly(
    x: Read1,
    y: Read1,
    W: Write1,
    room: Write2,
    turned: Write2,
    outputs: Write2,
    offsets: Indices,
    windows: Indices,
    sizes: Indices,
    group: int,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Filters `low` to `high` of a group, summed over the bands from `start` to `stop`."""
    _filter_gradient(
        x,
        y,
        W,
        room[thread],
        turned[thread],
        outputs[thread],
        offsets,
        windows,
        sizes,
        group,
        low,
        high,
        start,
        stop,
    )


# -- what offers them ------------------------------------------------------------------------------


def _windows(s: Sizes) -> Array:
    """Where the windows of a band begin in the room."""
    return (_few_windows if _are_few(s) else _many_windows)(s)


def _are_few(s: Sizes) -> bool:
    return bool(s.band * s.out_h * s.out_w <= KEPT)


def _places(s: Sizes) -> Array:
    d, h, w = np.ix_(*[np.arange(size, dtype=np.intp) for size in (s.band, s.out_h, s.out_w)])
    places: Array = (d * s.stride_d * s.room_h + h * s.stride_h) * s.line + w
    return places.reshape(-1)


_few_windows, _many_windows = lru_cache(maxsize=256)(_places), lru_cache(maxsize=8)(_places)


def suits(s: Sizes, images: int, itemsize: int) -> bool:
    """Whether most lanes have a filter, and filters more windows than it takes to turn them."""
    lanes = LINE // itemsize
    full = 5 * s.filters >= 4 * -(-s.filters // lanes) * lanes
    return bool(full and (images * s.places >= WINDOWS or s.filters * s.rows <= FILTERS))


def suits_sums(s: Sizes) -> bool:
    """Whether there are enough filters."""
    return bool(s.filters > FEW)


def _memory(s: Sizes, ranges: list[tuple[int, int]], dtype: Any, threads: int) -> list[Array]:
    """For each thread: the room, turned filters with a row of biases, and turned results."""
    most = -(-max([high - low for low, high in ranges]) // PANEL) * PANEL
    sizes = {
        "room": s.channels * s.plane,
        "turned": (s.rows + TILE) * most,
        "outputs": max(2 * (TOGETHER + TILE), SUMMED) * PANEL,
    }
    return [scratch(name, size, dtype, threads) for name, size in sizes.items()]


def convolving(
    plan: Plan, images: int, dtype: Any, floor: float = LOWEST
) -> Callable[[Array, Array, Array | None, Array], None]:
    """What computes `y`."""
    s, threads = plan.sizes, num_threads()
    ranges, spans = divided(s, images, PANEL // 2)
    small = is_small(images * s.places * s.groups * s.filters * s.rows)
    kept = _windows(s) if _are_few(s) else None
    each = [(*r, *s, 0) for r in ranges for s in spans]

    def compute(x: Array, W: Array, b: Array | None, y: Array) -> None:
        biases, bias = biases_of(b, dtype)
        panels = _memory(s, ranges, dtype, threads)
        places = plan.offsets, _windows(s) if kept is None else kept
        arrays = (*contiguous(x, W), biases, y.reshape(-1), *panels, *places)
        numbers = plan.numbers, bias, dtype.type(floor)
        parallel.each(
            convolve_directly, [(*arrays, *numbers, *part) for part in each], threads, small
        )

    return compute


def filter_gradient(plan: Plan, x: Array, y: Array, W: Array) -> None:
    """`W`, as sums over parts of the images."""
    s, dtype, threads = plan.sizes, x.dtype, num_threads()
    ranges, spans = divided(s, len(x), PANEL // 2, summed=True)
    sums = [W.reshape(-1), *[np.empty(W.size, dtype) for _ in spans[1:]]]
    arrays = contiguous(x, y)
    panels = _memory(s, ranges, dtype, threads)
    known = (*panels, plan.offsets, _windows(s), plan.numbers)
    each = [
        (*arrays, total, *known, group, *r, *span, 0)
        for group in range(s.groups)
        for r in ranges
        for total, span in zip(sums, spans, strict=True)
    ]
    parallel.each(correlate_directly, each, threads, is_small(y.size * s.rows))
    for more in sums[1:]:
        sums[0] += more
