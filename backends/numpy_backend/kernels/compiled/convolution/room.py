"""What loops of convolution walk over: sizes, windows in their order, and the room of an image.

The room holds an image with its padding, or a band of its rows. It keeps the elements of a row by
their remainder modulo the stride: neighbouring windows meet neighbours. Axes are three, of which
some may be of size 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from backends.numpy_backend.kernels.compiled.products.panels import (
    copy,
    fill,
    gather,
    unweave,
    weave,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted


class Sizes(NamedTuple):
    """What the loops know of the shapes: whole numbers, or those of a loop that is written."""

    groups: Any
    channels: Any  # of a group
    filters: Any  # of a group
    taps: Any  # of a filter in one channel
    depth: Any
    height: Any
    width: Any
    pad_d: Any
    pad_h: Any
    pad_w: Any
    out_d: Any
    out_h: Any
    out_w: Any
    stride_d: Any
    stride_h: Any
    stride_w: Any
    room_d: Any  # an image with its padding, or as many of its rows as are there at a time
    room_h: Any
    column: Any  # elements of a row of one remainder modulo the stride
    band: Any  # rows of windows that are in the room at a time
    lanes: Any  # of a panel

    @property
    def rows(self) -> Any:
        """Rows in a panel of inputs: one for each place of a filter."""
        return self.channels * self.taps

    @property
    def elements(self) -> Any:
        """Elements of a channel."""
        return self.depth * self.height * self.width

    @property
    def places(self) -> Any:
        """Places of windows on an image."""
        return self.out_d * self.out_h * self.out_w

    @property
    def line(self) -> Any:
        """Elements of a row of the room."""
        return self.column * self.stride_w

    @property
    def plane(self) -> Any:
        """Elements of a channel in the room."""
        return self.room_d * self.room_h * self.line


class Walk:
    """Windows in the order in which they are counted, row by row over all images."""

    def __init__(self, e: Emitter, s: Sizes, start: Any) -> None:
        self.e, self.s = e, s
        row = start // s.out_w
        along = (row // s.out_h // s.out_d, row // s.out_h % s.out_d, row % s.out_h)
        self.place = [e.variable(number) for number in (*along, start % s.out_w)]

    def runs(self, count: Any) -> Iterator[Any]:
        """The next `count` windows, by rows: lane of a panel, image, axes, and how many follow."""
        e, s = self.e, self.s
        lane = e.variable(e.number(0))
        with e.repeat(lambda: lane.get() < count):
            n, d, h, w = (variable.get() for variable in self.place)
            run = (s.out_w - w).least(count - lane.get())
            yield lane.get(), n, d, h, w, run
            lane.set(lane.get() + run)
            ends = w + run >= s.out_w
            h = h + e.choose(ends, 1, 0)
            d = d + e.choose(h >= s.out_h, 1, 0)
            self.place[0].set(n + e.choose(d >= s.out_d, 1, 0))
            self.place[1].set(e.choose(d >= s.out_d, 0, d))
            self.place[2].set(e.choose(h >= s.out_h, 0, h))
            self.place[3].set(e.choose(ends, 0, w + run))


def bands_of(e: Emitter, s: Sizes, start: Any, stop: Any) -> Iterator[Any]:
    """Bands of images: the image, its first row of windows, and how many windows there are."""
    bands = (s.out_d + s.band - 1) // s.band
    with e.loop(stop, 1, start) as unit:
        row = unit % bands * s.band
        yield unit // bands, row, s.band.least(s.out_d - row) * s.out_h * s.out_w


def maps(e: Emitter, s: Sizes, q: Any, count: Any) -> Iterator[Any]:
    """The `count` places from `q` on, by images: lane of a panel, image, place, and how many."""
    lane = e.variable(e.number(0))
    with e.repeat(lambda: lane.get() < count):
        place = q + lane.get()
        run = (s.places - place % s.places).least(count - lane.get())
        yield lane.get(), place // s.places, place % s.places, run
        lane.set(lane.get() + run)


def _place(s: Sizes, w: Any) -> Any:
    """Where in the room's row an element of a row is."""
    return (w + s.pad_w) % s.stride_w * s.column + (w + s.pad_w) // s.stride_w


def _apart(e: Emitter, s: Sizes, width: Any) -> Iterator[Any]:
    """The first `width` elements of a row, and where in the room's row each of them is."""
    with e.loop(s.stride_w) as first:
        place = _place(s, first)
        with e.loop((width - first + s.stride_w - 1) // s.stride_w) as i:
            yield first + i * s.stride_w, place + i


@emitted
def put(e: Emitter, room: Any, x: Any, channels: Any, first: Any, sizes: Any) -> None:
    """Put rows of an image, of its padding from `first` on, into the room."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    width = s.width.least(s.line - s.pad_w)
    with e.loop(channels) as c, e.loop(s.room_d) as i:
        d = first + i - s.pad_d
        with e.loop(s.height.least(s.room_h - s.pad_h)) as h:
            to = e.at(room, ((c * s.room_d + i) * s.room_h + h + s.pad_h) * s.line)
            source = e.at(x, ((c * s.depth + d) * s.height + h) * s.width)
            with e.whether(d.within(s.depth)) as (inside, outside):
                with inside, e.whether(s.stride_w <= 1) as (close, apart):
                    with close:
                        copy(e, to, s.pad_w, source, 0, width)
                    with apart, e.whether(s.stride_w <= 2) as (by_two, by_more):
                        with by_two:
                            first, second = (_place(s, e.number(w)) for w in range(2))
                            unweave(e, to, first, second, source, 0, width // 2)
                            with e.when((width % 2).is_not(0)):
                                last = e.read(e.at(source, width - 1))
                                e.write(last, e.at(to, first + width // 2))
                        with by_more:
                            for w, place in _apart(e, s, width):
                                e.write(e.read(e.at(source, w)), e.at(to, place))
                with outside:
                    fill(e, to, 0, s.line, e.constant(0.0))


@emitted
def take(e: Emitter, x: Any, room: Any, b: Any, bias: Any, channels: Any, sizes: Any) -> None:
    """Take an image out of the room; what no window reaches is the bias."""
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    width = s.width.least(s.line - s.pad_w)
    with e.loop(channels) as c, e.loop(s.depth) as d, e.loop(s.height) as h:
        to = e.at(x, ((c * s.depth + d) * s.height + h) * s.width)
        source = e.at(room, ((c * s.room_d + d + s.pad_d) * s.room_h + h + s.pad_h) * s.line)
        there = e.both(d + s.pad_d < s.room_d, h + s.pad_h < s.room_h)
        reached = e.choose(there, width, 0)
        with e.whether(s.stride_w <= 1) as (close, apart):
            with close:
                copy(e, to, 0, source, s.pad_w, reached)
            with apart, e.whether(s.stride_w <= 2) as (by_two, by_more):
                with by_two:
                    first, second = (_place(s, e.number(w)) for w in range(2))
                    weave(e, to, source, first, second, reached // 2)
                    with e.when((reached % 2).is_not(0)):
                        last = e.read(e.at(source, first + reached // 2))
                        e.write(last, e.at(to, reached - 1))
                with by_more:
                    for w, place in _apart(e, s, reached):
                        e.write(e.read(e.at(source, place)), e.at(to, w))
        fill(e, to, reached, s.width - reached, e.read(e.at(b, c * bias)))


def gathering(
    e: Emitter,
    s: Sizes,
    walk: Walk,
    filled: Any,
    room: Any,
    x: Any,
    inputs: Any,
    offsets: Any,
    sizes: Any,
    count: Any,
    group: Any,
    low: Any,
    high: Any,
) -> None:
    """Fill the panel `inputs` with the next `count` windows on channels `low` to `high`."""
    for lane, n, d, h, w, run in walk.runs(count):
        band = d // s.band * s.band
        unit = n * s.out_d + band
        with e.when(unit.is_not(filled.get())):
            filled.set(unit)
            image = e.at(x, ((n * s.groups + group) * s.channels + low) * s.elements)
            put(e, room, image, high - low, band * s.stride_d, sizes)
        at = ((d - band) * s.stride_d * s.room_h + h * s.stride_h) * s.line + w
        rows = (high - low) * s.taps
        gather(e, inputs, lane, s.lanes, room, at, offsets, rows, run)


def reading(e: Emitter, s: Sizes, outputs: Any, y: Any, q: Any, count: Any, group: Any) -> None:
    """Fill the panel `outputs` with the `count` places from `q` on."""
    for lane, n, place, run in maps(e, s, q, count):
        with e.loop(s.filters) as f:
            channel = (n * s.groups + group) * s.filters + f
            copy(e, outputs, f * s.lanes + lane, y, channel * s.places + place, run)
