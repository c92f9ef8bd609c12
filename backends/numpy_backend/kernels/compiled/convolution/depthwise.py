"""Convolution of channels each by itself: a sum over the places of a filter, a row at a time.

There is no product of matrices in it: an element of an image meets as many filters as a channel
has, one or a few. A channel with its padding lies in a room, as in `room`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    ALONE,
    LOWEST,
    Plan,
    axes_of,
    biases_of,
    is_small,
    parts,
    parts_at_most,
    plan_of,
    scratch,
)
from backends.numpy_backend.kernels.compiled.convolution.room import Sizes, put, take
from backends.numpy_backend.kernels.compiled.products.panels import at_least, fill, pieces, vectors
from backends.numpy_backend.kernels.compiler import (
    Indices,
    Read1,
    Real,
    Write1,
    Write2,
    compiled,
    contiguous,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry

FEW_FILTERS = 4  # of a channel; a product of panels is faster for more
TALL = (3, 5, 7)  # lines of filters that are kept in registers, a column at a time
DOWNWARDS = 7  # lines of outputs beside them
TOGETHER = 4  # sums, for a processor ends an addition after four others have begun


def _rows(e: Emitter, s: Sizes) -> Iterator[tuple[Any, Any]]:
    """Where rows of outputs begin, and the first window of each in the room."""
    with e.loop(s.out_d * s.out_h) as r:
        yield _at(s, r)


def _at(s: Sizes, r: Any) -> tuple[Any, Any]:
    d, h = r // s.out_h, r % s.out_h
    return r * s.out_w, (d * s.stride_d * s.room_h + h * s.stride_h) * s.line


def _tiles(e: Emitter, s: Sizes) -> Iterator[tuple[list[tuple[Any, Any]], Any]]:
    """Vectors of outputs that are summed together, and which of their lanes count.

    Of each, where it is among the outputs, and in the room. Vectors of a row, or of several rows,
    meet one element of a filter at a time; the last ones begin earlier, and are made once more.
    """
    wide, count = TOGETHER * e.lanes, s.out_d * s.out_h
    with e.whether(s.out_w >= wide) as (along, across):
        with along, e.loop(count) as r, e.loop(s.out_w, wide) as i:
            row, at = _at(s, r)
            first = i.least(s.out_w - wide)
            yield [(row + first + j, at + first + j) for j in range(0, wide, e.lanes)], None
        with across, e.whether(count >= TOGETHER) as (many, few):
            with many, e.loop(count, TOGETHER) as r:
                top = r.least(count - TOGETHER)
                rows = [_at(s, top + j) for j in range(TOGETHER)]
                for i, inside in vectors(e, s.out_w):
                    yield [(row + i, at + i) for row, at in rows], inside
            with few, e.loop(count) as r:
                row, at = _at(s, r)
                for i, inside in vectors(e, s.out_w):
                    yield [(row + i, at + i)], inside


def _downwards(
    e: Emitter,
    tall: int,
    y: Any,
    room: Any,
    w: Any,
    bias: Any,
    floor: Any,
    offsets: Any,
    s: Sizes,
) -> None:
    """Several lines of outputs at once, for filters of `tall` lines that meet lines of the room.

    A column of the filter stays in registers; each line is read once and adds to all outputs above.
    """
    with e.loop(s.out_d, DOWNWARDS) as r:
        top = r.least(s.out_d - DOWNWARDS)
        for i, inside in vectors(e, s.out_w):
            totals = [e.variable(e.broadcast(bias)) for _ in range(DOWNWARDS)]
            wide = s.taps // tall
            with e.loop(wide) as k:
                [offset] = e.numbers(e.at(offsets, k), 1)
                factors = [e.broadcast(e.read(e.at(w, k + wide * j))) for j in range(tall)]
                for line in range(tall + DOWNWARDS - 1):
                    place = e.at(room, (top + line) * s.line + i + offset)
                    values = e.load(place, where=inside)
                    for total, j in zip(totals, range(line, line - DOWNWARDS, -1), strict=True):
                        if 0 <= j < tall:
                            total.set(e.fused(factors[j], values, total.get()))
            for j, total in enumerate(totals):
                place = e.at(y, (top + j) * s.out_w + i)
                e.store(at_least(e, floor, total.get()), place, inside)


@emitted
def _filtered(
    e: Emitter,
    y: Any,
    room: Any,
    w: Any,
    bias: Any,
    floor: Any,
    offsets: Any,
    sizes: Any,
    tall: Any,
) -> None:
    """One channel of outputs."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    for lines in TALL:
        with e.when(tall.equals(lines)):
            _downwards(e, lines, y, room, w, bias, floor, offsets, s)
    with e.when(tall.equals(0)):
        _tile_by_tile(e, y, room, w, bias, floor, offsets, s)


def _tile_by_tile(
    e: Emitter, y: Any, room: Any, w: Any, bias: Any, floor: Any, offsets: Any, s: Sizes
) -> None:
    for tile, inside in _tiles(e, s):
        totals = [e.variable(e.broadcast(bias)) for _ in tile]
        with e.loop(s.taps) as tap:
            [offset] = e.numbers(e.at(offsets, tap), 1)
            factor = e.broadcast(e.read(e.at(w, tap)))
            for total, (_, at) in zip(totals, tile, strict=True):
                values = e.load(e.at(room, at + offset), where=inside)
                total.set(e.fused(factor, values, total.get()))
        for total, (row, _) in zip(totals, tile, strict=True):
            e.store(at_least(e, floor, total.get()), e.at(y, row), inside)


@emitted
def _added(e: Emitter, room: Any, y: Any, w: Any, offsets: Any, sizes: Any) -> None:
    """One channel of outputs, spread over the room."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    with e.loop(s.taps) as tap:
        [offset] = e.numbers(e.at(offsets, tap), 1)
        weight = e.read(e.at(w, tap))
        for row, at in _rows(e, s):
            for i, width in pieces(e, s.out_w):  # what is read again soon is not put by lanes
                place = e.at(room, at + offset + i)
                values = e.load(e.at(y, row + i), width)
                e.store(e.fused(e.broadcast(weight, width), values, e.load(place, width)), place)


@emitted
def _correlated(e: Emitter, w: Any, room: Any, y: Any, offsets: Any, sizes: Any) -> None:
    """What one channel of outputs adds to the gradient of its filter."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))

    def add(tap: Any, count: int) -> None:
        places = e.numbers(e.at(offsets, tap), count)
        totals = [e.variable(e.broadcast(e.constant(0.0))) for _ in places]
        for row, at in _rows(e, s):
            for i, inside in vectors(e, s.out_w):
                values = e.load(e.at(y, row + i), where=inside)
                for total, offset in zip(totals, places, strict=True):
                    others = e.load(e.at(room, at + offset + i), where=inside)
                    total.set(e.fused(values, others, total.get()))
        for k, total in enumerate(totals):
            place = e.at(w, tap + k)
            e.write(e.builder.fadd(e.read(place), e.sums([total.get()])[0]), place)

    whole = s.taps & -TOGETHER
    with e.loop(whole, TOGETHER) as first:
        add(first, TOGETHER)
    with e.loop(s.taps, 1, whole) as last:
        add(last, 1)


@emitted
def _convolution(
    e: Emitter,
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    room: Any,
    offsets: Any,
    sizes: Any,
    tall: Any,
    bias: Any,
    floor: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    fill(e, room, 0, s.plane, e.constant(0.0))
    with e.loop(stop, 1, start) as channel:
        put(e, room, e.at(x, channel * s.elements), 1, 0, sizes)
        with e.loop(s.filters) as i:
            f, to = channel % s.groups * s.filters + i, channel * s.filters + i
            first = e.read(e.at(b, f * bias))
            place = e.at(y, to * s.places)
            _filtered(e, place, room, e.at(W, f * s.taps), first, floor, offsets, sizes, tall)


@emitted
def _deconvolution(
    e: Emitter,
    y: Any,
    W: Any,
    b: Any,
    x: Any,
    room: Any,
    offsets: Any,
    sizes: Any,
    bias: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    with e.loop(stop, 1, start) as channel:
        group = channel % s.groups
        own = e.at(b, group * bias)
        fill(e, room, 0, s.plane, e.read(own))
        with e.loop(s.filters) as i:
            f, source = group * s.filters + i, channel * s.filters + i
            _added(e, room, e.at(y, source * s.places), e.at(W, f * s.taps), offsets, sizes)
        take(e, e.at(x, channel * s.elements), room, own, 0, 1, sizes)


@emitted
def _filter_gradient(
    e: Emitter,
    x: Any,
    y: Any,
    W: Any,
    room: Any,
    offsets: Any,
    sizes: Any,
    images: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    fill(e, room, 0, s.plane, e.constant(0.0))
    with e.loop(stop, 1, start) as group, e.loop(images) as n:
        channel = n * s.groups + group
        put(e, room, e.at(x, channel * s.elements), 1, 0, sizes)
        with e.loop(s.filters) as i:
            f, source = group * s.filters + i, channel * s.filters + i
            place = e.at(y, source * s.places)
            _correlated(e, e.at(W, f * s.taps), room, place, offsets, sizes)


@compiled
def convolve_channels(
    x: Read1,
    W: Read1,
    b: Read1,
    y: Write1,
    room: Write2,
    offsets: Indices,
    sizes: Indices,
    tall: int,
    bias: int,
    floor: Real,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels of all images from `start` to `stop`, at least floor."""
    _convolution(x, W, b, y, room[thread], offsets, sizes, tall, bias, floor, start, stop)


@compiled
def spread_channels(
    y: Read1,
    W: Read1,
    b: Read1,
    x: Write1,
    room: Write2,
    offsets: Indices,
    sizes: Indices,
    bias: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels of all images from `start` to `stop`."""
    _deconvolution(y, W, b, x, room[thread], offsets, sizes, bias, start, stop)


@compiled
def correlate_channels(
    x: Read1,
    y: Read1,
    W: Write1,
    room: Write2,
    offsets: Indices,
    sizes: Indices,
    images: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels from `start` to `stop`, summed over all images."""
    _filter_gradient(x, y, W, room[thread], offsets, sizes, images, start, stop)


# -- what offers them ------------------------------------------------------------------------------


def suits(channels: int, filters: int) -> bool:
    """Whether a group has one channel and few filters."""
    return channels == 1 and 0 < filters <= FEW_FILTERS


def _plan(g: Geometry, groups: int, filters: int) -> Plan:
    return plan_of(axes_of(g), groups, 1, filters // max(1, groups), 0, 0)


def _tall(g: Geometry) -> int:
    """The lines of a filter for which there is a loop by itself, or 0."""
    many = len(g.size) == 2 and g.out[0] >= DOWNWARDS and g.stride[0] == g.dilate[0] == 1
    return g.ksize[0] if many and g.ksize[0] in TALL else 0


def convolution(
    g: Geometry, x: Array, W: Array, b: Array | None, y: Array, floor: float = LOWEST
) -> None:
    """`y`, some channels of it at a time."""
    plan = _plan(g, x.shape[1], len(W))
    biases, bias = biases_of(b, x.dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1)]

    room = scratch("room", plan.sizes.plane, x.dtype)
    known = (*arrays, room, plan.offsets, plan.numbers, _tall(g), bias, x.dtype.type(floor))
    spans = parts(len(x) * x.shape[1], 1, parts_at_most(y.size * plan.sizes.taps, ALONE))
    parallel.each(
        convolve_channels,
        [(*known, *span, 0) for span in spans],
        small=is_small(y.size * plan.sizes.taps, ALONE),
    )


def deconvolution(g: Geometry, x: Array, W: Array, b: Array | None, y: Array) -> None:
    """`y`, some channels of it at a time."""
    plan = _plan(g, y.shape[1], len(W))
    biases, bias = biases_of(b, x.dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1)]

    room = scratch("room", plan.sizes.plane, x.dtype)
    known = (*arrays, room, plan.offsets, plan.numbers, bias)
    spans = parts(len(y) * y.shape[1], 1, parts_at_most(x.size * plan.sizes.taps, ALONE))
    parallel.each(
        spread_channels,
        [(*known, *span, 0) for span in spans],
        small=is_small(x.size * plan.sizes.taps, ALONE),
    )


def filter_gradient(g: Geometry, x: Array, y: Array, W: Array) -> None:
    """`W`, some channels of it at a time."""
    plan = _plan(g, x.shape[1], len(W))
    arrays = [*contiguous(x, y), W.reshape(-1)]

    room = scratch("room", plan.sizes.plane, x.dtype)
    known = (*arrays, room, plan.offsets, plan.numbers, len(x))
    spans = parts(x.shape[1], 1, parts_at_most(y.size * plan.sizes.taps, ALONE))
    parallel.each(
        correlate_channels,
        [(*known, *span, 0) for span in spans],
        small=is_small(y.size * plan.sizes.taps, ALONE),
    )
