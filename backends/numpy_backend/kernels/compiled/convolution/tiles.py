"""Tiles of two by two outputs and their windows of four by four inputs, with channels side by side.

Rows of a map are turned into a room of some channels, with the padding; from there tiles are
transformed into panels, one for each of the 16 places of a tile. Of images on three axes the maps
are their slices, and what comes out in one is a sum over as many slices as filters are deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from backends.numpy_backend.kernels.compiled.products.panels import fill, turn
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from core.arrays.windows import Geometry

PLACES = 16  # of a tile
CHANNELS = 32  # that are turned at a time: a multiple of a vector's lanes
APART = 16  # elements between places: at a power of two they would drive each other from the cache


class Tiles(NamedTuple):
    """Whole numbers that the loops know of the shapes, or those of a loop that is written."""

    groups: Any
    channels: Any  # of a group
    filters: Any  # of a group
    taps: Any  # slices on which a filter lies
    depth: Any
    height: Any
    width: Any
    pad_d: Any
    pad_h: Any
    pad_w: Any
    out_d: Any
    out_h: Any
    out_w: Any
    down: Any  # tiles of a map
    across: Any
    band: Any  # rows of tiles of a map that are turned together
    bands: Any  # of a map
    together: Any  # bands whose tiles are in a panel

    @property
    def most(self) -> Any:
        """Tiles in a panel."""
        return self.together * self.band * self.across

    @property
    def seen(self) -> Any:
        """Elements of a room of the inputs of a band."""
        return (self.band + 1) * (self.across + 1) * (4 * CHANNELS)


def tiles_of(
    g: Geometry, groups: int, channels: int, filters: int, most: int, back: bool = False
) -> Tiles:
    """The tiles of a convolution, or for `back` of the one that takes its gradient back.

    A panel has whole rows of them, `most` if it can.
    """
    size, pad, out = g.size, g.pad, g.out
    if back:
        size, pad, out = out, tuple([k - 1 - p for k, p in zip(g.ksize, pad, strict=True)]), size
    flat = len(size) == 2
    size, pad, out = ((n, *of) if flat else of for n, of in ((1, size), (0, pad), (1, out)))
    down, across = [-(-n // 2) for n in out[1:]]
    band = max(1, min(down, most // across))
    known = (down, across, band, -(-down // band), max(1, most // (band * across)))
    return Tiles._make([groups, channels, filters, taps_of(g), *size, *pad, *out, *known])


def taps_of(g: Geometry) -> int:
    """On how many slices a filter lies."""
    return g.ksize[0] if len(g.ksize) > 2 else 1


def both_ways(f: Callable[..., Sequence[Any]], square: Sequence[Sequence[Any]]) -> list[Any]:
    """`f` of each row, and then of each column: M s M^T for a matrix M, row by row."""
    columns = zip(*[f(*row) for row in square], strict=True)
    return [value for row in zip(*[f(*column) for column in columns], strict=True) for value in row]


@emitted
def turned(
    e: Emitter,
    room: Any,
    pitch: Any,
    line: Any,
    x: Any,
    channels: Any,
    first: Any,
    rows: Any,
    height: Any,
    width: Any,
    plane: Any,
    pad: Any,
) -> None:
    """Rows from `first` on of a map, its channels, `plane` apart, side by side, zeros around."""
    with e.loop(rows) as i:
        to, row = e.at(room, i * line * pitch), first + i
        with e.whether(row.within(height)) as (inside, outside):
            with inside:
                turn(e, to, pad * pitch, pitch, x, row * width, plane, channels, width)
            with outside:
                fill(e, to, 0, line * pitch, e.constant(0.0))


@emitted
def _transformed(
    e: Emitter, to: Any, apart: Any, room: Any, line: Any, rows: Any, across: Any, channels: Any
) -> None:
    add, less = e.builder.fadd, e.builder.fsub

    def transform(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
        return [less(a, c), add(b, c), less(c, b), less(b, d)]

    with e.loop(rows) as i, e.loop(across) as j, e.loop(channels, e.lanes) as c:
        corner = e.at(room, (i * line + j) * (2 * CHANNELS) + c)
        tile = e.at(to, (i * across + j) * CHANNELS + c)
        d = [[e.load(e.at(corner, (line * k + m) * CHANNELS)) for m in range(4)] for k in range(4)]
        for k, value in enumerate(both_ways(transform, d)):
            e.store(value, e.at(tile, apart * k))


def bands_of_tiles(e: Emitter, s: Tiles, q: Any, last: Any, tiles: Any) -> Iterator[Any]:
    """Each band: its map, first row of tiles, how many of these, and tiles in bands before.

    In the end the variable `tiles` has the number of all.
    """
    tiles.set(e.number(0))
    with e.loop(last, 1, q) as band:
        first, before = band % s.bands * s.band, tiles.get()
        rows = s.band.least(s.down - first)
        yield band // s.bands, first, rows, before
        tiles.set(before + rows * s.across)


def inputs_of_tiles(
    e: Emitter,
    s: Tiles,
    to: Any,
    apart: Any,
    seen: Any,
    x: Any,
    group: Any,
    tap: Any,
    c: Any,
    bands: tuple[Any, Any, Any],
) -> None:
    """`B^T d B` of tiles of some bands, up to `CHANNELS` channels from c on, `tap` slices on."""
    channels, line = (s.channels - c).least(CHANNELS), s.across * 2 + 2
    full, plane = (channels + e.lanes - 1) & -e.lanes, s.height * s.width
    for n, first, rows, tile in bands_of_tiles(e, s, *bands):
        slice = n % s.out_d + tap - s.pad_d
        channel = (n // s.out_d * s.groups + group) * s.channels + c
        own = e.at(x, (channel * s.depth + slice) * plane)
        height = e.choose(slice.within(s.depth), s.height, 0)  # of those beside it there is nothing
        where = (first * 2 - s.pad_h, rows * 2 + 2, height, s.width, plane * s.depth, s.pad_w)
        turned(e, seen, CHANNELS, line, own, channels, *where)
        _transformed(e, e.at(to, tile * CHANNELS), apart, seen, line, rows, s.across, full)
