"""What convolutions know before they compute: sizes, distances, parts, and where threads work.

Parts are cut by shapes and the number of threads. Each thread has room for an image with its
padding, or a band of its rows, and for a few panels; they are kept for the next call.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from math import inf, isqrt, prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.convolution.room import Sizes
from backends.numpy_backend.kernels.compiler import contiguous
from backends.numpy_backend.placement import LINE, in_lines
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry
from core.registry.threads import num_threads

ALONE = 16  # products of panels take as long as one of a channel by itself
LEAST = 1 << 21  # products of a part; less is done sooner than another core has fetched it
LOWEST = -inf  # of the results of a convolution, unless something else is asked for
BAND = 1 << 18  # bytes of an image with its padding, unless a row of windows needs more


class Plan(NamedTuple):
    """Sizes and, of the places of a filter, how far they lie from the first one in the room."""

    sizes: Sizes
    numbers: Array
    offsets: Array


@lru_cache(maxsize=256)
def plan_of(g: Axes, groups: int, channels: int, filters: int, lanes: int, limit: int) -> Plan:
    """The plan of a convolution whose room has at most `limit` elements, if that is not 0."""
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
    return Plan(sizes, np.array(sizes, np.intp), np.ascontiguousarray(offsets.reshape(-1), np.intp))


class Axes(NamedTuple):
    """A geometry on three axes."""

    size: tuple[int, ...]
    ksize: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilate: tuple[int, ...]
    out: tuple[int, ...]


@lru_cache(maxsize=1024)  # geometries are kept as well, by their sizes
def axes_of(g: Geometry) -> Axes:
    """With an axis of size 1 after the first of two, for bands are of the first, or two before."""

    def three(of: tuple[int, ...], one: int) -> tuple[int, ...]:
        return (of[0], one, of[1]) if len(of) == 2 else (*[one] * (3 - len(of)), *of)

    return Axes(
        three(g.size, 1),
        three(g.ksize, 1),
        three(g.stride, 1),
        three(g.pad, 0),
        three(g.dilate, 1),
        three(g.out, 1),
    )


_own = threading.local()


def scratch(name: str, size: int, dtype: Any, threads: int | None = None) -> Array:
    """Memory for each of the threads that work for this one, a row each, which is used again."""
    found: dict[Any, Array] = _own.__dict__.setdefault("found", {})
    rows, room = threads or num_threads(), found.get((name, dtype))
    if room is None or len(room) < rows or room.shape[1] < size:
        line = LINE // dtype.itemsize
        room = found[name, dtype] = in_lines((rows, -(-size // line) * line), dtype)
    return room


def parts(size: int, unit: int, most: int) -> list[tuple[int, int]]:
    """Parts of `range(size)` that begin at multiples of `unit`."""
    if most < 2:
        return [(0, size)]
    units = -(-size // unit)
    count = max(1, min(units, most))
    edges = [min(size, units * i // count * unit) for i in range(count + 1)]
    return list(zip(edges, edges[1:], strict=False))


def parts_at_most(products: int, weight: int = 1) -> int:
    """Into how many parts so many products are divided, at most; each counts as so many."""
    most = products * weight // LEAST
    if most < 2:  # to ask for the number of processors takes a while
        return 1
    threads = num_threads()
    return min(most, threads * 2) if threads > 1 else 1


def divided(
    s: Sizes, images: int, unit: int, summed: bool = False
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Ranges of filters and of bands for threads: of what takes longer to make ready for each.

    Ranges of filters begin at multiples of `unit`. However many threads there are, the filters
    that they turn take no more memory than the arrays, and neither do sums over ranges of bands.
    These are few where they are large, since one thread adds them.
    """
    many = parts_at_most(images * s.places * s.groups * s.filters * s.rows)
    threads, bands = min(many, num_threads()), images * -(-s.out_d // s.band)
    filters, elements = s.filters * s.rows, images * s.channels * s.elements
    arrays = s.groups * (filters + elements + images * s.filters * s.places)
    ranges_at_least, most = -(-threads * filters // arrays), many
    if summed:
        many, most = -(-many // s.groups), arrays // (s.groups * filters)
        ranges_at_least = max(ranges_at_least, min(threads, -(-many // isqrt(most))))
    elif bands < many or filters > elements:
        many = ranges_at_least = max(ranges_at_least, threads)
    ranges = parts(s.filters, unit, ranges_at_least)
    return ranges, parts(bands, 1, min(most, -(-many // len(ranges))))


def is_small(products: int, weight: int = 1) -> bool:
    """Whether so many take less time than waiting for a busy processor may."""
    return products * weight < parallel.SMALL * LEAST


def biases_of(b: Array | None, dtype: Any) -> tuple[Array, int]:
    """Biases, or a zero, and how far they are apart."""
    return (np.zeros(1, dtype), 0) if b is None else (contiguous(b)[0], 1)
