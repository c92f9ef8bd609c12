"""Convolution of channels each by itself: a sum over the places of a filter, a row at a time.

There is no product of matrices in it: an element of an image meets as many filters as a channel
has, one or a few. A channel with its padding lies in a room, as in `convolution_room`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution_plans import (
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
from backends.numpy_backend.kernels.compiled.convolution_room import Sizes, put, take
from backends.numpy_backend.kernels.compiled.panels import at_least, fill, pieces
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


def _rows(e: Emitter, s: Sizes) -> Iterator[tuple[Any, Any]]:
    """Where rows of outputs begin, and the first window of each in the room."""
    with e.loop(s.out_d) as d, e.loop(s.out_h) as h:
        at = (d * s.stride_d * s.room_h + h * s.stride_h) * s.line
        yield (d * s.out_h + h) * s.out_w, at


@emitted
def _filtered(
    e: Emitter, y: Any, room: Any, w: Any, bias: Any, floor: Any, offsets: Any, sizes: Any
) -> None:
    """One channel of outputs."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    for row, at in _rows(e, s):
        for i, width in pieces(e, s.out_w):
            total = e.variable(e.broadcast(bias, width))
            with e.loop(s.taps) as tap:
                [offset] = e.numbers(e.at(offsets, tap), 1)
                factor = e.broadcast(e.read(e.at(w, tap)), width)
                values = e.load(e.at(room, at + offset + i), width)
                total.set(e.fused(factor, values, total.get()))
            e.store(at_least(e, floor, total.get(), width), e.at(y, row + i))


@emitted
def _added(e: Emitter, room: Any, y: Any, w: Any, offsets: Any, sizes: Any) -> None:
    """One channel of outputs, spread over the room."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    with e.loop(s.taps) as tap:
        [offset] = e.numbers(e.at(offsets, tap), 1)
        weight = e.read(e.at(w, tap))
        for row, at in _rows(e, s):
            for i, width in pieces(e, s.out_w):
                place = e.at(room, at + offset + i)
                values = e.load(e.at(y, row + i), width)
                e.store(e.fused(e.broadcast(weight, width), values, e.load(place, width)), place)


@emitted
def _correlated(e: Emitter, w: Any, room: Any, y: Any, offsets: Any, sizes: Any) -> None:
    """What one channel of outputs adds to the gradient of its filter."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    with e.loop(s.taps) as tap:
        [offset] = e.numbers(e.at(offsets, tap), 1)
        widths = [e.lanes >> i for i in range(e.lanes.bit_length())]
        totals = {width: e.variable(e.broadcast(e.constant(0.0), width)) for width in widths}
        for row, at in _rows(e, s):
            for i, width in pieces(e, s.out_w):
                a, b = e.load(e.at(room, at + offset + i), width), e.load(e.at(y, row + i), width)
                totals[width].set(e.fused(a, b, totals[width].get()))
        sum_ = e.read(e.at(w, tap))
        for total in totals.values():
            sum_ = e.builder.fadd(sum_, e.sums([total.get()])[0])
        e.write(sum_, e.at(w, tap))


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
            _filtered(e, place, room, e.at(W, f * s.taps), first, floor, offsets, sizes)


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
    bias: int,
    floor: Real,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels of all images from `start` to `stop`, at least floor."""
    _convolution(x, W, b, y, room[thread], offsets, sizes, bias, floor, start, stop)


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


def convolution(
    g: Geometry, x: Array, W: Array, b: Array | None, y: Array, floor: float = LOWEST
) -> None:
    """`y`, some channels of it at a time."""
    plan = _plan(g, x.shape[1], len(W))
    biases, bias = biases_of(b, x.dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1)]

    room = scratch("room", plan.sizes.plane, x.dtype)
    known = (*arrays, room, plan.offsets, plan.numbers, bias, x.dtype.type(floor))
    spans = parts(len(x) * x.shape[1], 1, parts_at_most(y.size * plan.sizes.taps))
    parallel.each(
        convolve_channels,
        [(*known, *span, 0) for span in spans],
        small=is_small(y.size * plan.sizes.taps),
    )


def deconvolution(g: Geometry, x: Array, W: Array, b: Array | None, y: Array) -> None:
    """`y`, some channels of it at a time."""
    plan = _plan(g, y.shape[1], len(W))
    biases, bias = biases_of(b, x.dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1)]

    room = scratch("room", plan.sizes.plane, x.dtype)
    known = (*arrays, room, plan.offsets, plan.numbers, bias)
    spans = parts(len(y) * y.shape[1], 1, parts_at_most(x.size * plan.sizes.taps))
    parallel.each(
        spread_channels,
        [(*known, *span, 0) for span in spans],
        small=is_small(x.size * plan.sizes.taps),
    )


def filter_gradient(g: Geometry, x: Array, y: Array, W: Array) -> None:
    """`W`, some channels of it at a time."""
    plan = _plan(g, x.shape[1], len(W))
    arrays = [*contiguous(x, y), W.reshape(-1)]

    room = scratch("room", plan.sizes.plane, x.dtype)
    known = (*arrays, room, plan.offsets, plan.numbers, len(x))
    spans = parts(x.shape[1], 1, parts_at_most(y.size * plan.sizes.taps))
    parallel.each(
        correlate_channels,
        [(*known, *span, 0) for span in spans],
        small=is_small(y.size * plan.sizes.taps),
    )
