"""The loops of convolution and its two adjoints, as products of panels.

Places of the maps, counted over all images, are taken a panel at a time. `inputs` is the panel of
the elements that filters lie on, gathered from a room that holds an image with its padding;
`outputs` that of the channels that come out. Then

    convolution             outputs = max(W inputs + b, floor)
    deconvolution           inputs = W^T outputs, added to the room
    the filters' gradient   W += outputs inputs^T

so no image is unfolded as a whole.
"""

from __future__ import annotations

from typing import Any

from backends.numpy_backend.kernels.compiled.convolution.room import (
    Sizes,
    Walk,
    gathering,
    maps,
    reading,
    take,
)
from backends.numpy_backend.kernels.compiled.products.panels import (
    copy_at_least,
    dots,
    fill,
    product,
    scatter,
)
from backends.numpy_backend.kernels.compiler import Indices, Read1, Real, Write1, Write2, compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted


@emitted
def _convolution(
    e: Emitter,
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    room: Any,
    inputs: Any,
    outputs: Any,
    offsets: Any,
    sizes: Any,
    row: Any,
    column: Any,
    bias: Any,
    floor: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    fill(e, room, 0, s.channels * s.plane, e.constant(0.0))
    with e.loop(s.groups) as group:
        walk, filled = Walk(e, s, start), e.variable(e.number(-1))
        with e.loop(stop, s.lanes, start) as q:
            count = s.lanes.least(stop - q)
            gathering(
                *(e, s, walk, filled, room, x, inputs, offsets, sizes, count),
                *(group, e.number(0), s.channels),
            )
            first = group * s.filters + low
            matrix = e.at(W, group * s.filters * s.rows + low * row)
            product(
                e,
                outputs,
                matrix,
                row,
                column,
                e.at(b, first * bias),
                bias,
                inputs,
                high - low,
                s.rows,
                count,
            )
            for lane, n, place, run in maps(e, s, q, count):
                with e.loop(high, 1, low) as f:
                    channel = (n * s.groups + group) * s.filters + f
                    to = channel * s.places + place
                    copy_at_least(e, floor, y, to, outputs, (f - low) * s.lanes + lane, run)


@emitted
def _deconvolution(
    e: Emitter,
    y: Any,
    W: Any,
    b: Any,
    zero: Any,
    x: Any,
    room: Any,
    inputs: Any,
    outputs: Any,
    offsets: Any,
    sizes: Any,
    bias: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    used = (high - low) * s.taps
    with e.loop(s.groups) as group:
        walk, filled = Walk(e, s, start), e.variable(e.number(-1))
        channel = group * s.channels + low
        with e.loop(stop, s.lanes, start) as q:
            count = s.lanes.least(stop - q)
            reading(e, s, outputs, y, q, count, group)
            matrix = e.at(W, group * s.filters * s.rows + low * s.taps)
            product(e, inputs, matrix, 1, s.rows, zero, 0, outputs, used, s.filters, count)
            for lane, n, d, h, w, run in walk.runs(count):
                with e.when(n.is_not(filled.get())):
                    filled.set(n)
                    with e.loop(high - low) as c:
                        fill(e, room, c * s.plane, s.plane, e.read(e.at(b, (channel + c) * bias)))
                at = (d * s.stride_d * s.room_h + h * s.stride_h) * s.line + w
                scatter(e, room, at, offsets, inputs, lane, s.lanes, used, s.taps, run)
                with e.when((q + lane + run) % s.places < 1):
                    image = e.at(x, (n * s.groups * s.channels + channel) * s.elements)
                    take(e, image, room, e.at(b, channel * bias), bias, high - low, sizes)


@emitted
def _filter_gradient(
    e: Emitter,
    x: Any,
    y: Any,
    W: Any,
    room: Any,
    inputs: Any,
    outputs: Any,
    offsets: Any,
    sizes: Any,
    group: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    used = (high - low) * s.taps
    zero = e.constant(0.0)
    fill(e, room, 0, (high - low) * s.plane, zero)
    walk, filled = Walk(e, s, start), e.variable(e.number(-1))
    with e.loop(stop, s.lanes, start) as q:
        count = s.lanes.least(stop - q)
        gathering(e, s, walk, filled, room, x, inputs, offsets, sizes, count, group, low, high)
        reading(e, s, outputs, y, q, count, group)
        full = (count + e.lanes - 1) & -e.lanes
        for panel, rows in ((inputs, used), (outputs, s.filters)):
            with e.loop(rows) as r:
                fill(e, panel, r * s.lanes + count, full - count, zero)
        to = e.at(W, group * s.filters * s.rows + low * s.taps)
        dots(e, to, s.rows, outputs, s.filters, inputs, used, s.lanes, full)


@compiled
def convolve(
    x: Read1,
    W: Read1,
    b: Read1,
    y: Write1,
    room: Write2,
    inputs: Write2,
    outputs: Write2,
    offsets: Indices,
    sizes: Indices,
    row: int,
    column: int,
    bias: int,
    floor: Real,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Filters `low` to `high` of each group at the places from `start` to `stop`."""
    _convolution(
        x,
        W,
        b,
        y,
        room[thread],
        inputs[thread],
        outputs[thread],
        offsets,
        sizes,
        row,
        column,
        bias,
        floor,
        low,
        high,
        start,
        stop,
    )


@compiled
def spread(
    y: Read1,
    W: Read1,
    b: Read1,
    zero: Read1,
    x: Write1,
    room: Write2,
    inputs: Write2,
    outputs: Write2,
    offsets: Indices,
    sizes: Indices,
    bias: int,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels `low` to `high` of each group of the images that lie from `start` to `stop`."""
    _deconvolution(
        y,
        W,
        b,
        zero,
        x,
        room[thread],
        inputs[thread],
        outputs[thread],
        offsets,
        sizes,
        bias,
        low,
        high,
        start,
        stop,
    )


@compiled
def correlate(
    x: Read1,
    y: Read1,
    W: Write1,
    room: Write2,
    inputs: Write2,
    outputs: Write2,
    offsets: Indices,
    sizes: Indices,
    group: int,
    low: int,
    high: int,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Channels `low` to `high` of a group, summed over the places from `start` to `stop`."""
    _filter_gradient(
        x,
        y,
        W,
        room[thread],
        inputs[thread],
        outputs[thread],
        offsets,
        sizes,
        group,
        low,
        high,
        start,
        stop,
    )
