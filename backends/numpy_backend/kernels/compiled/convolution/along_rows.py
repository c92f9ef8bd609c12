"""Convolutions with few filters, whose windows lie side by side in vectors' lanes.

Windows of a row whose first places are neighbours in a room have neighbours in all others: a
vector of elements is read where it lies, and multiplied with an element of each filter. The last
vector of a row begins where it ends with the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from backends.numpy_backend.kernels.compiled.products.panels import copy_at_least, fill
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

ROWS = 8  # filters of a tile, at most
TILE = ROWS * 3 * LINE  # bytes of its results
FEW = 16  # filters, which fill one vector


@emitted
def _convolution(
    e: Emitter,
    x: Any,
    W: Any,
    b: Any,
    y: Any,
    room: Any,
    outputs: Any,
    offsets: Any,
    sizes: Any,
    bias: Any,
    floor: Any,
    low: Any,
    high: Any,
    start: Any,
    stop: Any,
) -> None:
    s = Sizes(*e.numbers(sizes, len(Sizes._fields)))
    height, vectors = (ROWS, 3) if e.wide.number == 32 else (6, 2)
    pitch, width = vectors * e.lanes, s.out_w.least(e.lanes)
    each = (s.out_w + e.lanes - 1) // e.lanes

    def tile(height: int, r: Number, group: Number, lines: list[Any], places: list[Any]) -> None:
        own = [group * s.filters + (r + i).least(high - 1) for i in range(height)]
        filters = [e.at(W, f * s.rows) for f in own]
        firsts = [e.broadcast(e.read(e.at(b, f * bias))) for f in own]
        sums = [[e.variable(first) for _ in lines] for first in firsts]
        with e.loop(s.rows) as d:
            [offset] = e.numbers(e.at(offsets, d), 1)
            elements = [e.load(e.at(line, offset)) for line in lines]
            for f, totals in zip(filters, sums, strict=True):
                factor = e.broadcast(e.read(e.at(f, d)))
                for total, element in zip(totals, elements, strict=True):
                    total.set(e.fused(factor, element, total.get()))
        for i, totals in enumerate(sums):
            for j, total in enumerate(totals):
                e.store(total.get(), e.at(outputs, i * pitch + j * e.lanes))
        with e.loop((high - r).least(height)) as f:
            for j, place in enumerate(places):
                to = place + (r + f) * s.places
                copy_at_least(e, floor, y, to, outputs, f * pitch + j * e.lanes, width)

    fill(e, room, 0, s.channels * s.plane, e.constant(0.0))
    with e.loop(s.groups) as group:
        for n, row, count in bands_of(e, s, start, stop):
            image = (n * s.groups + group) * s.channels * s.elements
            put(e, room, e.at(x, image), s.channels, row * s.stride_d, sizes)
            first = (n * s.groups + group) * s.filters * s.places + row * s.out_h * s.out_w
            every = count // s.out_w * each
            with e.loop(every, vectors) as t:
                lines, places = [], []
                for j in range(vectors):
                    i = (t + j).least(every - 1)
                    line, column = i // each, (i % each * e.lanes).least(s.out_w - width)
                    d, h = line // s.out_h * s.stride_d, line % s.out_h * s.stride_h
                    lines.append(e.at(room, (d * s.room_h + h) * s.line + column))
                    places.append(first + line * s.out_w + column)
                with (
                    e.loop(high, height, low) as r,
                    e.whether(high - r <= height // 2) as halves,
                ):
                    for half, down in zip(halves, (height // 2, height), strict=True):
                        with half:
                            tile(down, r, group, lines, places)


@compiled
def convolve_rows(
    x: Read1,
    W: Read1,
    b: Read1,
    y: Write1,
    room: Write2,
    outputs: Write2,
    offsets: Indices,
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
        outputs[thread],
        offsets,
        sizes,
        bias,
        floor,
        low,
        high,
        start,
        stop,
    )


def suits(s: Sizes, itemsize: int) -> bool:
    """Whether most lanes have a window where vectors go along rows."""
    lanes = LINE // itemsize
    return bool(5 * s.out_w >= 4 * -(-s.out_w // lanes) * lanes)


def convolving(
    plan: Plan, images: int, dtype: Any, floor: float = LOWEST
) -> Callable[[Array, Array, Array | None, Array], None]:
    """What computes `y`."""
    s, threads = plan.sizes, num_threads()
    ranges, spans = divided(s, images, ROWS // 2)
    small = is_small(images * s.places * s.groups * s.filters * s.rows)
    known = plan.offsets, plan.numbers
    parts = [(*r, *s, 0) for r in ranges for s in spans]

    def compute(x: Array, W: Array, b: Array | None, y: Array) -> None:
        biases, bias = biases_of(b, dtype)
        sizes = {"room": s.channels * s.plane + LINE, "outputs": TILE // dtype.itemsize}
        panels = [scratch(name, size, dtype, threads) for name, size in sizes.items()]
        arrays = (*contiguous(x, W), biases, y.reshape(-1), *panels, *known)
        numbers = bias, dtype.type(floor)
        parallel.each(convolve_rows, [(*arrays, *numbers, *p) for p in parts], threads, small)

    return compute
