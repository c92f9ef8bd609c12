"""Convolution of channels each by itself over small maps: channels side by side in vectors' lanes.

A line of a small map fills a part of a vector, and most places of a window may lie on padding. So a
block of channels is turned, each place a row with a lane for each channel, and places are taken one
by one, each with those that it meets. An image's channels need no padding and no masks then.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.few_places import meetings
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    ALONE,
    LOWEST,
    Axes,
    axes_of,
    biases_of,
    is_small,
    parts,
    parts_at_most,
    scratch,
)
from backends.numpy_backend.kernels.compiled.products.panels import at_least, copy, turn, turn_back
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
from backends.numpy_backend.placement import LINE
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry

PLACES = 100  # of a map, at most
STRIDED = 256  # at most, where the result has less than half of them
LINES = (4, 3, 2, 1)  # of a cache, that a block of channels may fill
TOGETHER = 4  # vectors of sums: an addition ends after four others have begun


class Sizes(NamedTuple):
    """What loops are told by numbers."""

    images: Any
    channels: Any
    width: Any  # channels of a block
    inner: Any  # places of what is read, of what is made or summed with it, and of a filter
    outer: Any
    taps: Any


def _block(e: Emitter, s: Sizes, number: Any) -> Any:
    """The first channel of a block; the last one begins earlier, and is made once more."""
    return (number * s.width).least(s.channels - s.width)


@emitted
def _abreast(e: Emitter, to: Any, x: Any, width: Any, places: Any) -> None:
    """`to[p * width + c] = x[c * places + p]`."""
    with e.whether(places.equals(1)) as (one, many):
        with one:
            copy(e, to, 0, x, 0, width)
        with many:
            turn(e, to, 0, width, x, 0, places, width, places)


@emitted
def _apart(e: Emitter, to: Any, x: Any, width: Any, places: Any) -> None:
    """`to[c * places + p] = x[p * width + c]`."""
    with e.whether(places.equals(1)) as (one, many):
        with one:
            copy(e, to, 0, x, 0, width)
        with many:
            turn_back(e, to, 0, places, x, 0, width, width, places)


def _vectors(e: Emitter, width: Any) -> Iterator[list[Any]]:
    """Offsets of vectors that are summed together, of a block of whole lines."""
    wide = TOGETHER * e.lanes
    whole = width - width % wide
    with e.loop(whole, wide) as lane:
        yield [lane + j * e.lanes for j in range(TOGETHER)]
    rest = width - whole
    for count in range(1, TOGETHER):
        with e.when(rest.equals(count * e.lanes)):
            yield [whole + j * e.lanes for j in range(count)]


@emitted
def _met(
    e: Emitter,
    to: Any,
    bias: Any,
    a: Any,
    b: Any,
    starts: Any,
    ours: Any,
    theirs: Any,
    count: Any,
    width: Any,
    floor: Any,
) -> None:
    """`to[i] = bias + sum(a[ours[k]] * b[theirs[k]])` of the meetings k of i, rows of a width."""
    for lanes in _vectors(e, width):
        firsts = [e.load(e.at(bias, lane)) for lane in lanes]
        with e.loop(count) as i:
            totals = [e.variable(first) for first in firsts]
            first, last = e.numbers(e.at(starts, i), 2)
            with e.loop(last, 1, first) as k:
                [our], [their] = (e.numbers(e.at(of, k), 1) for of in (ours, theirs))
                for total, lane in zip(totals, lanes, strict=True):
                    values, others = e.load(e.at(a, our + lane)), e.load(e.at(b, their + lane))
                    total.set(e.fused(values, others, total.get()))
            for total, lane in zip(totals, lanes, strict=True):
                e.store(at_least(e, floor, total.get()), e.at(to, i * width + lane))


@emitted
def _convolution(
    e: Emitter,
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    inputs: Any,
    filters: Any,
    outputs: Any,
    starts: Any,
    taps: Any,
    places: Any,
    sizes: Any,
    bias: Any,
    floor: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    own = e.at(filters, s.taps * s.width)  # biases lie behind the filters
    with e.loop(stop, 1, start) as item:
        channel, n = _block(e, s, item // s.images), item % s.images
        with e.when(e.builder.or_(n.equals(0), item.equals(start))):
            _abreast(e, filters, e.at(W, channel * s.taps), s.width, s.taps)
            with e.loop(s.width) as c:
                e.write(e.read(e.at(b, (channel + c) * bias)), e.at(own, c))
        first = n * s.channels + channel
        _abreast(e, inputs, e.at(x, first * s.inner), s.width, s.inner)
        _met(
            e, outputs, own, filters, inputs, starts, taps, places, s.outer, s.width, floor
        )  # fmt: skip
        _apart(e, e.at(y, first * s.outer), outputs, s.width, s.outer)


@emitted
def _filter_gradient(
    e: Emitter,
    x: Any,
    y: Any,
    W: Any,
    inputs: Any,
    filters: Any,
    outputs: Any,
    starts: Any,
    ours: Any,
    theirs: Any,
    sizes: Any,
    floor: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    sums = e.at(filters, s.taps * s.width)  # of all images, behind those of one
    zeros = e.at(sums, s.taps * s.width)
    with e.loop(s.width, e.lanes) as c:
        e.store(e.broadcast(e.constant(0.0)), e.at(zeros, c))
    with e.loop(stop, 1, start) as number:
        channel = _block(e, s, number)
        with e.loop(s.taps * s.width, e.lanes) as i:
            e.store(e.broadcast(e.constant(0.0)), e.at(sums, i))
        with e.loop(s.images) as n:
            first = n * s.channels + channel
            _abreast(e, inputs, e.at(x, first * s.inner), s.width, s.inner)
            _abreast(e, outputs, e.at(y, first * s.outer), s.width, s.outer)
            _met(
                e, filters, zeros, outputs, inputs, starts, ours, theirs, s.taps, s.width, floor
            )  # fmt: skip
            with e.loop(s.taps * s.width, e.lanes) as i:
                total = e.builder.fadd(e.load(e.at(sums, i)), e.load(e.at(filters, i)))
                e.store(total, e.at(sums, i))
        _apart(e, e.at(W, channel * s.taps), sums, s.width, s.taps)


@compiled
def convolve_abreast(
    x: Read1,
    W: Read1,
    b: Read1,
    y: Write1,
    inputs: Write2,
    filters: Write2,
    outputs: Write2,
    starts: Indices,
    taps: Indices,
    places: Indices,
    sizes: Indices,
    bias: int,
    floor: Real,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Images of blocks of channels from `start` to `stop`, at least floor."""
    rooms = inputs[thread], filters[thread], outputs[thread]
    _convolution(x, W, b, y, *rooms, starts, taps, places, sizes, bias, floor, start, stop)


@compiled
def correlate_abreast(
    x: Read1,
    y: Read1,
    W: Write1,
    inputs: Write2,
    filters: Write2,
    outputs: Write2,
    starts: Indices,
    ours: Indices,
    theirs: Indices,
    sizes: Indices,
    floor: Real,
    start: int,
    stop: int,
    thread: int,
) -> None:
    """Blocks of channels from `start` to `stop`, summed over all images."""
    rooms = inputs[thread], filters[thread], outputs[thread]
    _filter_gradient(x, y, W, *rooms, starts, ours, theirs, sizes, floor, start, stop)


# -- what offers them ------------------------------------------------------------------------------


def suits(g: Geometry, channels: int, filters: int, dtype: Any) -> bool:
    """Whether maps are small, and channels with a filter each fill a line of a cache."""
    size, out = prod(g.size), prod(g.out)
    few = size <= PLACES or (size <= STRIDED and 2 * out < size)
    return few and out <= size and filters == 1 and channels >= LINE // dtype.itemsize


def _width(channels: int, dtype: Any) -> int:
    """How many channels a block has: those of a few lines, so that few are made twice."""
    line: int = LINE // dtype.itemsize
    lines = min(
        [n for n in LINES if n * line <= channels],
        key=lambda n: -(-channels // (n * line)) * (n + 1),
    )
    return lines * line


@lru_cache(maxsize=256)
def _lists(g: Axes, width: int, by: str) -> tuple[Array, Array, Array]:
    """Where the meetings of each place begin, and the rows of the two others that meet in it."""
    m = meetings(g)
    key, size, ours, theirs = {
        "outer": (m.outer, prod(g.out), m.taps, m.inner),
        "inner": (m.inner, prod(g.size), m.taps, m.outer),
        "taps": (m.taps, prod(g.ksize), m.outer, m.inner),
    }[by]
    starts, order = m.by(key, size)
    return starts, ours[order] * width, theirs[order] * width


def _known(
    g: Geometry, by: str, images: int, channels: int, inner: int, outer: int, dtype: Any
) -> tuple[int, list[Array]]:
    """How many blocks there are, rooms of each thread, lists, and sizes."""
    width, taps = _width(channels, dtype), prod(g.ksize)
    rooms = [("abreast", inner), ("filters", 2 * taps + 1), ("met", outer)]
    sizes = Sizes(images, channels, width, inner, outer, taps)
    return -(-channels // width), [
        *[scratch(name, size * width, dtype) for name, size in rooms],
        *_lists(axes_of(g), width, by),
        np.array(sizes, np.intp),
    ]


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
    images, channels = x.shape[:2]
    inner, outer = prod(x.shape[2:]), prod(y.shape[2:])
    blocks, known = _known(
        g, "inner" if back else "outer", images, channels, inner, outer, x.dtype
    )  # fmt: skip
    biases, bias = biases_of(b, x.dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1), *known]
    products = prod((x if back else y).shape) * prod(g.ksize)
    spans = parts(blocks * images, 1, parts_at_most(products, ALONE))
    numbers = bias, x.dtype.type(floor)
    parallel.each(
        convolve_abreast,
        [(*arrays, *numbers, *span, 0) for span in spans],
        small=is_small(products, ALONE),
    )


def filter_gradient(g: Geometry, x: Array, y: Array, W: Array) -> None:
    """`W`, some channels of it at a time."""
    images, channels = x.shape[:2]
    inner, outer = prod(g.size), prod(g.out)
    blocks, known = _known(g, "taps", images, channels, inner, outer, x.dtype)
    arrays = [*contiguous(x, y), W.reshape(-1), *known, x.dtype.type(LOWEST)]
    products = y.size * prod(g.ksize)
    parallel.each(
        correlate_abreast,
        [(*arrays, *span, 0) for span in parts(blocks, 1, parts_at_most(products, ALONE))],
        small=is_small(products, ALONE),
    )
