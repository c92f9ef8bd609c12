"""Convolution, deconvolution and the filters' gradient: which loop computes which part of them.

Parts are cut by shapes and the number of threads. Each thread has room for an image with its
padding, or a band of its rows, and for two panels: the only large arrays are inputs and results.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.convolution_loops import (
    Sizes,
    convolve,
    correlate,
    spread,
)
from backends.numpy_backend.kernels.compiled.panels import LANE_BYTES
from backends.numpy_backend.kernels.compiled.winograd import (
    PLACES,
    convolve_tiles,
    correlate_tiles,
    filters,
    filters_of,
)
from backends.numpy_backend.kernels.compiler import contiguous
from core.arrays.threads import num_threads
from core.arrays.windows import Geometry, unfolded

Array = np.ndarray[Any, Any]

BLOCK = 960  # lanes of a panel of which the filters' gradient takes the sum
BLOCK_ROWS = 160  # and its rows, with which it fills half of a second-level cache
TILED_CHANNELS = 16  # of which Winograd's sums are, at least
TILED_PLACES = 1024  # for which its filters are worth their own transformation
TILED_BYTES = 1536  # of the lanes that are summed at once for the filters' gradient
TILED_CHUNK = 24  # channels of which these panels are
LEAST = 1 << 18  # products of a part; less is done sooner than another thread wakes up
BAND = 1 << 18  # bytes of an image with its padding, unless a row of windows needs more


class _Plan(NamedTuple):
    """Sizes and, of the places of a filter, how far they lie from the first one in the room."""

    sizes: Sizes
    numbers: Array
    offsets: Array


@lru_cache(maxsize=256)
def _plan(g: _Axes, groups: int, channels: int, filters: int, lanes: int, limit: int) -> _Plan:
    reach = [
        (k - 1) * d + (o - 1) * s + 1
        for k, d, o, s in zip(g.ksize, g.dilate, g.out, g.stride, strict=True)
    ]
    column = -(-reach[2] // g.stride[2])
    line = column * g.stride[2]
    band = g.out[0]
    if limit:
        inside = (g.ksize[0] - 1) * g.dilate[0] + 1
        fits = limit // max(1, channels * reach[1] * line)
        band = max(1, min(band, (fits - inside) // g.stride[0] + 1))
        reach[0] = (band - 1) * g.stride[0] + inside
    counts = (groups, channels, filters, prod(g.ksize))
    room = (reach[0], reach[1], column)
    sizes = Sizes._make([*counts, *g.size, *g.pad, *g.out, *g.stride, *room, band, lanes])
    c, i, j, k = np.ix_(range(channels), *[range(size) for size in g.ksize])
    last = k * g.dilate[2]
    offsets = (
        ((c * reach[0] + i * g.dilate[0]) * reach[1] + j * g.dilate[1]) * line
        + last % g.stride[2] * column
        + last // g.stride[2]
    )
    return _Plan(
        sizes, np.array(sizes, np.intp), np.ascontiguousarray(offsets.reshape(-1), np.intp)
    )


class _Axes(NamedTuple):
    """A geometry on three axes."""

    size: tuple[int, ...]
    ksize: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilate: tuple[int, ...]
    out: tuple[int, ...]


def _axes(g: Geometry) -> _Axes:
    """With an axis of size 1 after the first of two, for bands are of the first, or two before."""

    def three(of: tuple[int, ...], one: int) -> tuple[int, ...]:
        return (of[0], one, of[1]) if len(of) == 2 else (*[one] * (3 - len(of)), *of)

    return _Axes(
        three(g.size, 1),
        three(g.ksize, 1),
        three(g.stride, 1),
        three(g.pad, 0),
        three(g.dilate, 1),
        three(g.out, 1),
    )


_own = threading.local()


def _scratch(name: str, size: int, dtype: Any) -> Array:
    """Memory of this thread that is used again."""
    found: dict[Any, Array] = _own.__dict__.setdefault("found", {})
    if (name, dtype) not in found or found[name, dtype].size < size:
        found[name, dtype] = np.empty(size, dtype)
    return found[name, dtype]


def _suits(x: Array, products: int, *others: Array) -> bool:
    return (
        products > 8 * compiler.SMALL
        and x.dtype in compiler.FLOATS
        and 3 <= x.ndim <= 5
        and all([a.dtype == x.dtype for a in others])
    )


def _parts(size: int, unit: int, most: int) -> list[tuple[int, int]]:
    """Parts of `range(size)` that begin at multiples of `unit`."""
    units = -(-size // unit)
    count = max(1, min(units, most))
    edges = [min(size, units * i // count * unit) for i in range(count + 1)]
    return list(zip(edges, edges[1:], strict=False))


def _many(products: int) -> int:
    """Into how many parts so many products are divided, at most."""
    threads = num_threads()
    return max(1, min(products // LEAST, threads * 2 if threads > 1 else 1))


def _biases(b: Array | None, dtype: Any) -> tuple[Array, int]:
    return (np.zeros(1, dtype), 0) if b is None else (contiguous(b)[0], 1)


def convolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """What `Convolution.compute` gives."""
    g = Geometry(x.shape[2:], W.shape[2:], f.stride, f.pad, f.dilate, f.cover_all).checked()
    products = len(x) * W.size * prod(g.out)
    if not _suits(x, products, W, *([] if b is None else [b])):
        return NotImplemented
    filters, channels = W.shape[0] // f.groups, W.shape[1]
    lanes = LANE_BYTES // x.itemsize
    plan = _plan(_axes(g), f.groups, channels, filters, lanes, BAND // x.itemsize)
    y = np.empty((len(x), W.shape[0], *g.out), x.dtype)
    if _by_tiles(g, f.groups, len(x), *W.shape[:2]):
        _tiles(x, W, b, y, g.pad, turned=False)
        return y
    _forward(plan, x, W, b, y, plan.sizes.rows, 1)
    return y


def _by_tiles(g: Geometry, groups: int, images: int, outer: int, inner: int) -> bool:
    """Whether Winograd's products are fewer in sum, with what it does before and after them."""
    return (
        g.ksize == (3, 3)
        and g.stride == g.dilate == (1, 1)
        and groups == 1
        and min(outer, inner) >= TILED_CHANNELS
        and images * prod(g.out) >= TILED_PLACES
    )


def _tile_plan(x: Array, y: Array, pad: tuple[int, ...], lane_bytes: int) -> _Plan:
    tiles = [-(-size // 2) for size in y.shape[2:]]
    sizes = (x.shape[2:], (4, 4), (2, 2), pad, (1, 1), tiles)
    axes = _Axes(*[(of[0], one, of[1]) for of, one in zip(sizes, (1, 1, 1, 0, 1, 1), strict=True)])
    channels = x.shape[1], y.shape[1]
    return _plan(axes, 1, *channels, lane_bytes // x.itemsize, BAND // x.itemsize // 2)


def _tiles(
    x: Array, W: Array, b: Array | None, y: Array, pad: tuple[int, ...], *, turned: bool
) -> None:
    """`y`, by windows of three by three; with filters turned around and their axes exchanged."""
    dtype, channels, outer = x.dtype, x.shape[1], y.shape[1]
    height, width = y.shape[2:]
    plan = _tile_plan(x, y, pad, LANE_BYTES)
    s = plan.sizes
    biases, bias = _biases(b, dtype)
    U = filters(contiguous(W)[0], turned)
    arrays = [*contiguous(x, U), biases, np.zeros(1, dtype), y.reshape(-1)]
    steps = (1, outer) if turned else (channels, 1)
    spans = _parts(len(x) * s.places, s.lanes, _many(y.size * channels * 4))

    def part(start: int, stop: int) -> None:
        room = _scratch("room", channels * s.plane, dtype)
        one = _scratch("inputs", PLACES * max(channels, outer + 8) * s.lanes, dtype)
        other = _scratch("outputs", max(PLACES * channels, 4 * outer) * s.lanes, dtype)
        known = (plan.offsets, plan.numbers, *steps, bias, height, width)
        convolve_tiles(*arrays, room, one, other, *known, start, stop)

    parallel.each(part, spans)


def _forward(
    plan: _Plan, x: Array, W: Array, b: Array | None, y: Array, row: int, column: int
) -> None:
    """`y`, from filters that lie in `W` with these strides."""
    s, dtype = plan.sizes, x.dtype
    biases, bias = _biases(b, dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1)]
    places = len(x) * s.places
    many = _many(y.size * s.rows)
    spans, ranges = [(0, places)], [(0, s.filters)]
    if places >= 2 * many * s.lanes:
        spans = _parts(places, s.lanes, many)
    else:
        ranges = _parts(s.filters, 8, many)

    def part(low: int, high: int, start: int, stop: int) -> None:
        room = _scratch("room", s.channels * s.plane, dtype)
        inputs = _scratch("inputs", s.rows * s.lanes, dtype)
        outputs = _scratch("outputs", (high - low + 8) * s.lanes, dtype)
        known = (plan.offsets, plan.numbers, row, column, bias)
        convolve(*arrays, room, inputs, outputs, *known, low, high, start, stop)

    parallel.each(part, [(*r, *s) for r in ranges for s in spans])


def deconvolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """What `Deconvolution.compute` gives."""
    if not _suits(x, prod(x.shape[2:]) * len(x) * W.size, W, *([] if b is None else [b])):
        return NotImplemented
    filters, channels = W.shape[0] // f.groups, W.shape[1]
    size = f.spread(x.shape[2:], W.shape[2:])
    shape = (1, 1, *W.shape[2:], *x.shape[2:])
    g = unfolded(shape, size, f.stride, f.pad, f.dilate)
    lanes = LANE_BYTES // x.itemsize
    y = np.empty((len(x), channels * f.groups, *size), x.dtype)
    if max(g.pad) < 3 and _by_tiles(g, f.groups, len(x), *W.shape[:2]):
        _tiles(x, W, b, y, tuple([2 - p for p in g.pad]), turned=True)
        return y
    plan = _plan(_axes(g), f.groups, channels, filters, lanes, 0)
    s, dtype = plan.sizes, x.dtype
    biases, bias = _biases(b, dtype)
    arrays = [*contiguous(x, W), biases, np.zeros(1, dtype), y.reshape(-1)]
    many = _many(x.size * s.rows)
    spans, ranges = [(0, len(x) * s.places)], [(0, channels)]
    if len(x) >= many:
        spans = _parts(len(x) * s.places, s.places, many)
    else:
        ranges = _parts(channels, 1, many)

    def part(low: int, high: int, start: int, stop: int) -> None:
        room = _scratch("room", (high - low) * s.plane, dtype)
        inputs = _scratch("inputs", ((high - low) * s.taps + 8) * lanes, dtype)
        outputs = _scratch("outputs", filters * lanes, dtype)
        known = (plan.offsets, plan.numbers, bias)
        spread(*arrays, room, inputs, outputs, *known, low, high, start, stop)

    parallel.each(part, [(*r, *s) for r in ranges for s in spans])
    return y


def filter_gradient(f: Any, xp: Any, x: Any, y: Any) -> Any:
    """What `ConvolutionFilterGradient.compute` gives."""
    filters, channels, taps = y.shape[1] // f.groups, x.shape[1] // f.groups, prod(f.ksize)
    if not _suits(x, y.size * channels * taps, y):
        return NotImplemented
    g = Geometry(x.shape[2:], f.ksize, f.stride, f.pad, f.dilate, f.cover_all).checked()
    if _by_tiles(g, f.groups, len(x), y.shape[1], channels):
        return _tiles_gradient(x, y, g.pad)
    plan = _plan(_axes(g), f.groups, channels, filters, BLOCK, BAND // x.itemsize)
    W = np.zeros((y.shape[1], channels, *f.ksize), x.dtype)
    s, dtype = plan.sizes, x.dtype
    many = _many(y.size * s.rows)
    chunk = max(1, BLOCK_ROWS // taps)
    chunks = -(-channels // chunk)
    if channels * taps >= 24 * many:
        chunks = max(chunks, min(many, channels))
    ranges = [(group, *r) for group in range(f.groups) for r in _parts(channels, 1, chunks)]
    spans = _parts(len(x) * s.places, BLOCK, max(1, many // len(ranges)))
    sums = [W.reshape(-1), *[np.zeros(W.size, dtype) for _ in spans[1:]]]
    arrays = contiguous(x, y)

    def part(total: Array, group: int, low: int, high: int, start: int, stop: int) -> None:
        room = _scratch("room", (high - low) * s.plane, dtype)
        inputs = _scratch("inputs", (high - low) * taps * BLOCK, dtype)
        outputs = _scratch("outputs", filters * BLOCK, dtype)
        known = (plan.offsets, plan.numbers, group)
        correlate(*arrays, total, room, inputs, outputs, *known, low, high, start, stop)

    parallel.each(part, [(t, *r, *s) for r in ranges for t, s in zip(sums, spans, strict=True)])
    for more in sums[1:]:
        sums[0] += more
    return W


def _tiles_gradient(x: Array, y: Array, pad: tuple[int, ...]) -> Array:
    """The gradient of filters of three by three."""
    dtype, channels, outer = x.dtype, x.shape[1], y.shape[1]
    plan = _tile_plan(x, y, pad, TILED_BYTES)
    s = plan.sizes
    places, size = len(x) * s.places, PLACES * outer * channels
    many = _many(y.size * channels * 4)
    spans = _parts(places, s.lanes, max(1, min(many, (x.size + y.size) // (2 * size))))
    ranges = _parts(channels, TILED_CHUNK, -(-many // len(spans)))
    totals = [np.zeros(size, dtype) for _ in spans]
    arrays = contiguous(x, y)

    def part(total: Array, low: int, high: int, start: int, stop: int) -> None:
        chunk = min(TILED_CHUNK, high - low)
        room = _scratch("room", chunk * s.plane, dtype)
        inputs = _scratch("inputs", PLACES * chunk * s.lanes, dtype)
        transformed = _scratch("transformed", PLACES * chunk * s.lanes, dtype)
        outputs = _scratch("outputs", 4 * outer * s.lanes, dtype)
        spread = _scratch("spread", PLACES * outer * s.lanes, dtype)
        panels = (room, inputs, transformed, outputs, spread)
        known = (plan.offsets, plan.numbers, *y.shape[2:], chunk)
        correlate_tiles(*arrays, total, *panels, *known, low, high, start, stop)

    parallel.each(part, [(t, *r, *s) for r in ranges for t, s in zip(totals, spans, strict=True)])
    for more in totals[1:]:
        totals[0] += more
    W: Array = filters_of(totals[0].reshape(PLACES, -1))
    return W.reshape(outer, channels, 3, 3)
