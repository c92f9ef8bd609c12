"""Panels: blocks of a product, and what goes in and out of them.

A panel has a row for each channel, or for each place of the filters, and a lane for each of some
places of the maps. Sums are held in registers, a tile of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from backends.numpy_backend.kernels.emitter import Emitter, Number, emitted

LANE_BYTES = 192  # of a panel of a product: 3 vectors of 512 bits, 6 of 256, 12 of 128


def pieces(e: Emitter, count: Number) -> Iterator[tuple[Number, int]]:
    """Offset and width of vectors that cover `count` elements and none beyond."""
    whole = count & -e.lanes
    with e.loop(whole, e.lanes) as i:
        yield i, e.lanes
    width = e.lanes // 2
    while width:
        with e.when((count & width).is_not(0)):
            yield count & (-2 * width), width
        width //= 2


def vectors(e: Emitter, count: Number) -> Iterator[tuple[Number, Any]]:
    """Offset of full vectors that cover `count` elements, and which lanes of the last count."""
    whole = count & -e.lanes
    with e.loop(whole, e.lanes) as i:
        yield i, None
    with e.when(whole.is_not(count)):
        yield whole, e.lanes_before(count - whole)


@emitted
def copy(e: Emitter, to: Any, t: Any, source: Any, s: Any, count: Any) -> None:
    """`to[t : t + count] = source[s : s + count]`."""
    to, source = e.at(to, t), e.at(source, s)
    with e.whether(count >= e.lanes) as (many, few):
        with many, e.loop(count, e.lanes) as i:
            i = i.least(count - e.lanes)  # the last vector begins where it ends with the elements
            e.store(e.load(e.at(source, i)), e.at(to, i))
        with few:
            for i, width in pieces(e, count):
                e.store(e.load(e.at(source, i), width), e.at(to, i))


def at_least(e: Emitter, floor: Any, value: Any, lanes: int = 0) -> Any:
    """The greater of a vector's elements and a number; of -inf, and of NaN among them, neither."""
    least = e.broadcast(floor, lanes)
    return e.where(e.builder.fcmp_ordered("<", value, least), least, value)


@emitted
def copy_at_least(e: Emitter, floor: Any, to: Any, t: Any, source: Any, s: Any, count: Any) -> None:
    """`to[t : t + count] = maximum(source[s : s + count], floor)`."""
    to, source = e.at(to, t), e.at(source, s)
    for i, width in pieces(e, count):
        e.store(at_least(e, floor, e.load(e.at(source, i), width), width), e.at(to, i))


@emitted
def copy_rows(
    e: Emitter, to: Any, t: Any, pitch: Any, x: Any, s: Any, row: Any, rows: Any, columns: Any
) -> None:
    """`to[t + r * pitch :][:columns] = x[s + r * row :][:columns]` for each row."""
    to, x = e.at(to, t), e.at(x, s)
    for i, width in pieces(e, columns):  # row by row LLVM would call the C library for each of them
        start, source_start = e.at(to, i), e.at(x, i)
        with e.loop(rows) as r:
            e.store(e.load(e.at(source_start, r * row), width), e.at(start, r * pitch))


@emitted
def turn_rows(
    e: Emitter, to: Any, pitch: Any, x: Any, s: Any, row: Any, rows: Any, columns: Any
) -> None:
    """`to[c * pitch + r] = x[s + r * row + c]` for each row and column."""
    size = e.lanes
    whole, across = rows & -size, columns & -size
    with e.loop(whole, size) as r, e.loop(across, size) as c:
        lines = [e.load(e.at(x, s + (r + i) * row + c)) for i in range(size)]
        for i, line in enumerate(_turned(e, lines)):
            e.store(line, e.at(to, (c + i) * pitch + r))
    for first, start in ((0, across), (whole, 0)):
        with e.loop(rows, 1, first) as r, e.loop(columns, 1, start) as c:
            e.write(e.read(e.at(x, s + r * row + c)), e.at(to, c * pitch + r))


def _turned(e: Emitter, lines: list[Any]) -> list[Any]:
    """The columns of a square of as many vectors as each has lanes."""
    half = len(lines) // 2
    while half:
        # The upper right quarter of each square of two halves changes places with the lower left.
        low = [i if not i & half else len(lines) + i - half for i in range(len(lines))]
        high = [place + half for place in low]
        for i in [i for i in range(len(lines)) if not i & half]:
            a, b = lines[i], lines[i + half]
            lines[i], lines[i + half] = e.shuffle(a, b, low), e.shuffle(a, b, high)
        half //= 2
    return lines


@emitted
def turn(
    e: Emitter,
    to: Any,
    t: Any,
    pitch: Any,
    x: Any,
    s: Any,
    row: Any,
    rows: Any,
    columns: Any,
) -> None:
    """`to[t + c * pitch + r] = x[s + r * row + c]`, and beyond `rows` anything within a vector."""
    to, x = e.at(to, t), e.at(x, s)
    for c, width in pieces(e, columns):
        with e.loop(rows, width) as r:
            lines = [(r + i).least(rows - 1) * row + c for i in range(width)]
            turned = e.transposed([e.load(e.at(x, line), width) for line in lines])
            for i, line in enumerate(turned):
                e.store(line, e.at(to, (c + i) * pitch + r))


@emitted
def turn_back(
    e: Emitter,
    to: Any,
    t: Any,
    pitch: Any,
    x: Any,
    s: Any,
    row: Any,
    rows: Any,
    columns: Any,
) -> None:
    """`to[t + r * pitch + c] = x[s + c * row + r]`; of x whole vectors are read."""
    to, x = e.at(to, t), e.at(x, s)
    for c, width in pieces(e, columns):
        with e.loop(rows, width) as r:
            lines = [e.load(e.at(x, (c + i) * row + r), width) for i in range(width)]
            for i, line in enumerate(e.transposed(lines)):
                with e.when(r + i < rows):
                    e.store(line, e.at(to, (r + i) * pitch + c))


@emitted
def fill(e: Emitter, to: Any, t: Any, count: Any, value: Any) -> None:
    """`to[t : t + count] = value`."""
    to = e.at(to, t)
    for i, width in pieces(e, count):
        e.store(e.broadcast(value, width), e.at(to, i))


@emitted
def unweave(e: Emitter, to: Any, even: Any, odd: Any, source: Any, s: Any, count: Any) -> None:
    """`to[even:], to[odd:] = source[s::2], source[s + 1::2]`, `count` elements of each."""
    source = e.at(source, s)
    for i, width in pieces(e, count):
        a, b = (e.load(e.at(source, i * 2 + half), width) for half in (0, width))
        for start in (0, 1):
            places = list(range(start, 2 * width, 2))
            e.store(e.shuffle(a, b, places), e.at(to, (odd if start else even) + i))


@emitted
def weave(e: Emitter, to: Any, source: Any, even: Any, odd: Any, count: Any) -> None:
    """`to[::2], to[1::2] = source[even:], source[odd:]`, `count` elements of each."""
    for i, width in pieces(e, count):
        a, b = (e.load(e.at(source, start + i), width) for start in (even, odd))
        for half in (0, width // 2) if width > 1 else (0,):
            places = [n + side for n in range(half, half + (width + 1) // 2) for side in (0, width)]
            e.store(e.shuffle(a, b, places), e.at(to, i * 2 + half * 2))


@emitted
def gather(
    e: Emitter,
    to: Any,
    t: Any,
    pitch: Any,
    source: Any,
    s: Any,
    offsets: Any,
    rows: Any,
    count: Any,
) -> None:
    """`to[t + r * pitch :][:count] = source[s + offsets[r] :][:count]` for each row."""
    to, source = e.at(to, t), e.at(source, s)
    for i, width in pieces(e, count):
        start, source_start = e.at(to, i), e.at(source, i)
        with e.loop(rows) as r:
            [offset] = e.numbers(e.at(offsets, r), 1)
            e.store(e.load(e.at(source_start, offset), width), e.at(start, r * pitch))


@emitted
def scatter(
    e: Emitter,
    to: Any,
    t: Any,
    offsets: Any,
    source: Any,
    s: Any,
    pitch: Any,
    rows: Any,
    taps: Any,
    count: Any,
) -> None:
    """`to[t + offsets[r] :][:count] += source[s + r * pitch :][:count]` for each row.

    Rows of a channel are `taps`. They overlap: what is read where something else was just written
    has to wait, so channels take turns.
    """
    to, source = e.at(to, t), e.at(source, s)
    for i, width in pieces(e, count):
        start, source_start = e.at(to, i), e.at(source, i)
        with e.loop(taps) as tap, e.loop(rows, taps, tap) as r:
            [offset] = e.numbers(e.at(offsets, r), 1)
            place = e.at(start, offset)
            value = e.load(e.at(source_start, r * pitch), width)
            e.store(e.builder.fadd(e.load(place, width), value), place)


def in_tiles(
    e: Emitter,
    tile: Callable[[int, int, Number, Number], None],
    rows: Any,
    height: int,
    lanes: Any,
    vectors: int,
) -> None:
    """`tile(height, vectors, row, lane)` for tiles that cover `rows` and `lanes`.

    Where no more is left, a tile is half as high, or a single vector wide.
    """
    with e.loop(lanes, vectors * e.lanes) as lane, e.whether(lanes - lane <= e.lanes) as cases:
        for case, across in zip(cases, (1, vectors), strict=True):
            with case, e.loop(rows, height) as r, e.whether(rows - r <= height // 2) as halves:
                for half, down in zip(halves, (height // 2, height), strict=True):
                    with half:
                        tile(down, across, r, lane)


def add_multiples(e: Emitter, sums: list[list[Any]], line: Any, factors: Iterable[Any]) -> None:
    """Add to each row of `sums` the vectors from `line` on, times the number at the row's factor.

    The places of factors may be computed as they are asked for, each before its row.
    """
    others = [e.load(e.at(line, j * e.lanes)) for j in range(len(sums[0]))]
    for place, totals in zip(factors, sums, strict=True):
        factor = e.broadcast(e.read(place))
        for total, other in zip(totals, others, strict=True):
            total.set(e.fused(factor, other, total.get()))


@emitted
def product(
    e: Emitter,
    to: Any,
    a: Any,
    row: Any,
    column: Any,
    bias: Any,
    bias_row: Any,
    b: Any,
    rows: Any,
    depth: Any,
    lanes: Any,
) -> None:
    """The panel `to` is the matrix `a`, of any strides, by the panel `b`, plus `bias`.

    `to[r, l] = bias[r * bias_row] + sum(a[r * row + d * column] * b[d, l])`, and up to the end of
    a tile beyond `rows` and `lanes` anything.
    """
    height, vectors = (8, 3) if e.wide.number == 32 else (6, 2)
    pitch = LANE_BYTES // e.bytes

    def tile(height: int, vectors: int, r: Number, lane: Number) -> None:
        places = [(r + i).least(rows - 1) for i in range(height)]
        lines = [e.at(a, place * row) for place in places]
        firsts = [e.broadcast(e.read(e.at(bias, place * bias_row))) for place in places]
        sums = [[e.variable(first) for _ in range(vectors)] for first in firsts]
        with e.loop(depth) as d:
            along, line_of_b = d * column, e.at(b, d * pitch + lane)
            add_multiples(e, sums, line_of_b, (e.at(line, along) for line in lines))
        for i, totals in enumerate(sums):
            for j, total in enumerate(totals):
                e.store(total.get(), e.at(to, (r + i) * pitch + lane + j * e.lanes))

    in_tiles(e, tile, rows, height, lanes, vectors)


@emitted
def add_product(
    e: Emitter,
    to: Any,
    pitch: Any,
    a: Any,
    row: Any,
    column: Any,
    b: Any,
    b_pitch: Any,
    rows: Any,
    depth: Any,
    lanes: Any,
) -> None:
    """`to[r * pitch + l] += sum(a[r * row + d * column] * b[d * b_pitch + l])`.

    `lanes` is a multiple of a vector's.
    """
    height, vectors = (12, 2) if e.wide.number == 32 else (6, 2)

    def tile(height: int, vectors: int, r: Number, lane: Number) -> None:
        # A tile that has fewer rows computes its last one several times.
        own = [(r + i).least(rows - 1) for i in range(height)]
        lines = [e.at(a, place * row) for place in own]
        places = [
            [e.at(to, place * pitch + lane + j * e.lanes) for j in range(vectors)] for place in own
        ]
        sums = [[e.variable(e.load(place)) for place in along] for along in places]
        with e.loop(depth) as d:
            line_of_b = e.at(b, d * b_pitch + lane)
            add_multiples(e, sums, line_of_b, (e.at(line, d * column) for line in lines))
        for along, totals in zip(places, sums, strict=True):
            for place, total in zip(along, totals, strict=True):
                e.store(total.get(), place)

    in_tiles(e, tile, rows, height, lanes, vectors)


@emitted
def add_outer(
    e: Emitter,
    to: Any,
    pitch: Any,
    a: Any,
    a_pitch: Any,
    b: Any,
    b_pitch: Any,
    rows: Any,
    depth: Any,
    lanes: Any,
) -> None:
    """`to[r * pitch + l] += sum(a[d * a_pitch + r] * b[d * b_pitch + l])`.

    `lanes` is a multiple of a vector's; beyond `rows`, up to the end of half a tile, is anything.
    What is added is summed by itself, so that many calls lose few digits.
    """
    height, vectors = (12, 2) if e.wide.number == 32 else (6, 2)

    def tile(height: int, vectors: int, r: Number, lane: Number) -> None:
        places = [
            [e.at(to, (r + i) * pitch + lane + j * e.lanes) for j in range(vectors)]
            for i in range(height)
        ]
        zeros = e.broadcast(e.constant(0.0))
        sums = [[e.variable(zeros) for _ in along] for along in places]
        with e.loop(depth) as d:
            above, beside = e.at(a, d * a_pitch + r), e.at(b, d * b_pitch + lane)
            add_multiples(e, sums, beside, (e.at(above, i) for i in range(height)))
        for along, totals in zip(places, sums, strict=True):
            for place, total in zip(along, totals, strict=True):
                e.store(e.builder.fadd(e.load(place), total.get()), place)

    in_tiles(e, tile, rows, height, lanes, vectors)


@emitted
def dots(
    e: Emitter, to: Any, row: Any, a: Any, rows: Any, b: Any, columns: Any, pitch: Any, lanes: Any
) -> None:
    """`to[r * row + c] += sum(a[r, l] * b[c, l])`; `lanes` is a multiple of a vector's."""
    height, width = 4, 6 if e.wide.number == 32 else 3
    with e.loop(rows, height) as r, e.loop(columns, width) as c:
        above = [e.at(a, (r + i).least(rows - 1) * pitch) for i in range(height)]
        beside = [e.at(b, (c + j).least(columns - 1) * pitch) for j in range(width)]
        zeros = e.broadcast(e.constant(0.0))
        sums = [[e.variable(zeros) for _ in range(height)] for _ in range(width)]
        with e.loop(lanes, e.lanes) as lane:
            factors = [e.load(e.at(line, lane)) for line in beside]
            for i, line in enumerate(above):
                other = e.load(e.at(line, lane))
                for totals, factor in zip(sums, factors, strict=True):
                    totals[i].set(e.fused(factor, other, totals[i].get()))
        for j, totals in enumerate(sums):
            values = e.sums([total.get() for total in totals])
            with e.when(c + j < columns):
                for i, value in enumerate(values):
                    with e.when(r + i < rows):
                        place = e.at(to, (r + i) * row + c + j)
                        e.write(e.builder.fadd(e.read(place), value), place)
