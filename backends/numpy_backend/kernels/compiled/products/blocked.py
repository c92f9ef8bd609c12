"""Products of matrices, block by block: factors are copied as the registers take them.

Sums of a tile of the result are held in registers, over a block of the depth: its rows multiply the
panel of a few vectors of the second factor, which lies in the fastest cache. A block of panels is
packed once, and stays in the next cache while all rows pass. Rows of the first factor are read as
they lie, unless it is turned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import blas, parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.products.few_rows import _span
from backends.numpy_backend.kernels.compiler import (
    Array,
    Read1,
    View4,
    Write3,
    compiled,
    inlined_exactly,
)
from backends.numpy_backend.kernels.emitter import Emitter, Number, emitted, registers
from core.registry.threads import num_threads
from core.typing import Shape

DEPTH, COLUMNS, ROWS = 1536, 480, 48  # of a block, at most: bytes in depth, elements else
APART = 2  # of a tile's rows: else all tiles begin in one set of a cache
AHEAD = 8  # lines for which memory is asked before they are packed: no processor guesses them
FEW = 24  # rows for which it does not pay to pack a panel that lies in rows


def _tile(e: Emitter) -> tuple[int, int]:
    """Rows and vectors of a tile: its sums fill the registers."""
    return (8, 3) if _many(e) else (6, 2)


def _many(e: Emitter) -> bool:
    """Whether there are many registers."""
    return e.wide.number >= 32


def _turned(e: Emitter, vectors: list[Any]) -> list[Any]:
    """The columns of the square of which these full vectors are the rows."""
    size = 1
    while size < e.lanes:
        # Squares of `size` lanes change places with those beside the diagonal.
        for i, a in enumerate(vectors):
            if not i & size:
                b, lanes = vectors[i + size], range(e.lanes)
                above = [e.lanes + j - size if j & size else j for j in lanes]
                below = [e.lanes + j if j & size else j + size for j in lanes]
                vectors[i], vectors[i + size] = e.shuffle(a, b, above), e.shuffle(a, b, below)
        size *= 2
    return vectors


@emitted
def _pack_columns(
    e: Emitter, to: Any, b: Any, row: Any, column: Any, depth: Any, columns: Any
) -> None:
    """Panels one after the other: `to[d, l]` of each is `b[d * row + l * column]`."""
    vectors, lanes = _tile(e)[1], e.lanes
    width = vectors * lanes
    with e.loop(columns, width) as c:
        panel, left = e.at(to, c * depth), columns - c
        with e.whether(column.equals(1)) as (in_rows, turned):
            with in_rows:
                inside = [e.lanes_before(left - j * lanes) for j in range(vectors)]
                with e.loop(depth) as d:
                    for j in range(vectors):
                        vector = e.load(e.at(b, d * row + c + j * lanes), where=inside[j])
                        e.store(vector, e.at(panel, d * width + j * lanes))
            with turned, e.loop(left.least(width), lanes) as across:
                first, last = c + across, columns - 1
                lines = [e.at(b, (first + i).least(last) * column) for i in range(lanes)]
                with e.loop(depth, lanes) as start, e.whether(depth < lanes) as (small, square):
                    with small, e.loop(depth) as d:
                        for i, line in enumerate(lines):
                            place = e.at(panel, d * width + across + i)
                            e.write(e.read(e.at(line, d * row)), place)
                    with square:  # the last one begins earlier
                        d = start.least(depth - lanes)
                        for i, vector in enumerate(_turned(e, [e.load(e.at(x, d)) for x in lines])):
                            e.store(vector, e.at(panel, (d + i) * width + across))


@emitted
def _pack_rows(e: Emitter, to: Any, a: Any, column: Any, rows: Any, depth: Any) -> None:
    """Tiles one after the other: `to[d, i]` of each is `a[i + d * column]`."""
    height = _tile(e)[0]
    with e.loop(depth) as d:
        start = e.at(a, d * column)
        for along in range(0, ROWS + 1, 64 // e.bytes):
            e.prefetch(e.at(start, column * AHEAD + along))
        with e.loop(rows, height) as r:
            line, tile = e.at(start, r), e.at(to, r * (depth + APART) + d * height)
            with e.whether(rows - r >= height) as (whole, some):
                with whole:
                    e.store(e.load(line, height), tile)
                with some, e.loop(rows - r) as i:
                    e.write(e.read(e.at(line, i)), e.at(tile, i))


@emitted
def _multiply(
    e: Emitter,
    c: Any,
    pitch: Any,
    bias: Any,
    biased: Any,
    more: Any,
    a: Any,
    tile_step: Any,
    row: Any,
    column: Any,
    b: Any,
    panel_step: Any,
    line: Any,
    rows: Any,
    depth: Any,
    columns: Any,
) -> None:
    """`c[r * pitch + l] = sum(a[r, d] * b[d, l])`, plus what is there if there is `more`, or bias.

    Row r of a tile is at `a[tile_step * first + row * (r - first)]`, its elements `column` apart;
    those of a panel, at `b[panel_step * first]`, are `line` apart.
    """
    (most, vectors), lanes = _tile(e), e.lanes

    def tile(height: int, width: int, r: Number, s: Number, inside: Any) -> None:
        # A tile that has fewer rows computes its last one several times.
        own = [(rows - r - 1).least(i) for i in range(height)]
        panel, first = e.at(b, s * panel_step), e.at(a, r * tile_step)
        above = [e.at(first, i * row) for i in own]
        ends = [inside if j == width - 1 else None for j in range(width)]
        places = [[e.at(c, (r + i) * pitch + s + j * lanes) for j in range(width)] for i in own]
        zeros = e.broadcast(e.constant(0.0))
        sums = [[e.variable(zeros) for _ in range(width)] for _ in own]
        for place in [place for along in places for place in along]:
            e.prefetch(place, written=True)
        with e.when(e.both(more < 1, biased.is_not(0))):
            for j, end in enumerate(ends):
                value = e.load(e.at(bias, s + j * lanes), where=end)
                for totals in sums:
                    totals[j].set(value)
        with e.loop(depth) as d:
            at = e.at(panel, d * line)
            factors = [e.load(e.at(at, j * lanes), where=end) for j, end in enumerate(ends)]
            if _many(e):  # of few, what asks takes longer than what waits
                with e.when(panel_step.equals(1)):  # not packed: no processor guesses what is next
                    for j in range(width):
                        e.prefetch(e.at(at, (vectors + j) * lanes))
            for start, totals in zip(above, sums, strict=True):
                factor = e.broadcast(e.read(e.at(start, d * column)))
                for total, other in zip(totals, factors, strict=True):
                    total.set(e.fused(factor, other, total.get()))
        with e.when(more.is_not(0)):  # all is read before the last row is written several times
            for along, totals in zip(places, sums, strict=True):
                for place, total, end in zip(along, totals, ends, strict=True):
                    total.set(e.builder.fadd(e.load(place, where=end), total.get()))
        for along, totals in zip(places, sums, strict=True):
            for place, total, end in zip(along, totals, ends, strict=True):
                e.store(total.get(), place, end)

    def tiles(width: int, s: Number, inside: Any) -> None:
        with e.loop(rows, most) as r, e.whether(rows - r <= most // 2) as halves:
            for half, height in zip(halves, (most // 2, most), strict=True):
                with half:
                    tile(height, width, r, s, inside)

    with e.loop(columns, vectors * lanes) as s:
        left = columns - s
        with e.whether(left >= vectors * lanes) as (whole, some):
            with whole:
                tiles(vectors, s, None)
            with some:
                for width in range(1, vectors + 1):
                    before = (width - 1) * lanes
                    with e.when(e.both((left - before) >= 1, left <= before + lanes)):
                        tiles(width, s, e.lanes_before(left - before))


def _depth(e: Emitter, k: Any) -> Any:
    """Of a block, of which there are as few as can be, and about alike."""
    blocks = (k + (DEPTH // e.bytes - 1)) // (DEPTH // e.bytes)
    return (k + blocks - 1) // blocks


@emitted
def blocks(
    e: Emitter,
    c: Any,
    room: Any,
    bias: Any,
    biased: Any,
    a: Any,
    row: Any,
    column: Any,
    b: Any,
    line: Any,
    place: Any,
    k: Any,
    n: Any,
    top: Any,
    bottom: Any,
    low: Any,
    high: Any,
    added: Any,
) -> None:
    """Rows and columns of `c`; `a[r * row + d * column]`, and `b[d * line + l * place]`.

    With `added` other than 0 they are added to what is there, without bias.
    """
    height, vectors = _tile(e)
    width = vectors * e.lanes
    most = COLUMNS // width * width
    deep = _depth(e, k)
    tiles = e.aligned(room)
    panels = e.aligned(e.at(tiles, (deep + APART) * (ROWS + height)))
    as_it_is = e.both(place.equals(1), (bottom - top) <= FEW)
    direct = e.choose(as_it_is, 1, 0)
    turned = e.choose(e.both(row.equals(1), (high - low) >= 2 * width), 1, 0)
    with e.loop(high, most, low) as s, e.loop(k, deep) as d:
        depth, columns = (k - d).least(deep), (high - s).least(most)
        block = e.at(b, d * line + s * place)
        with e.when(direct.equals(0)):
            _pack_columns(e, panels, block, line, place, depth, columns)
        right = (
            e.builder.select(direct.is_not(0), block, panels),
            e.choose(direct.is_not(0), 1, depth),
            e.choose(direct.is_not(0), line, width),
        )
        with e.loop(bottom, ROWS, top) as r:
            rows, first = (bottom - r).least(ROWS), e.at(a, r * row + d * column)
            with e.when(turned.is_not(0)):
                _pack_rows(e, tiles, first, column, rows, depth)
            left = (
                e.builder.select(turned.is_not(0), tiles, first),
                e.choose(turned.is_not(0), depth + APART, row),
                row,
                e.choose(turned.is_not(0), height, column),
            )
            place_of_c, from_bias = e.at(c, r * n + s), e.at(bias, s * biased)
            sizes = rows, depth, columns
            _multiply(e, place_of_c, n, from_bias, biased, d + added, *left, *right, *sizes)


@inlined_exactly
def room_for(k: Any, columns: Any, size: Any) -> Any:
    """How many elements of so many bytes `blocks` takes to pack factors of depth k."""
    # Conditions, for numba takes a tenth of a second to compile the minimum of two numbers.
    deepest, wide = DEPTH // size, columns + 47
    most = k if k < deepest else deepest
    return (most + APART) * (ROWS + 8) + most * (wide if wide < COLUMNS else COLUMNS) + 64


@compiled
def multiply(
    c: Write3,
    a: View4,
    b: View4,
    bias: Read1,
    biased: int,
    deep: int,
    down: int,
    across: int,
    start: int,
    stop: int,
) -> None:
    """Products of a stack, plus bias, in units of so many matrices, rows or columns.

    Factors are stacks of stacks; where they are 1 long, one matrix is there for all.
    """
    first, last = _span(deep, c.shape[0], start, stop)
    top, bottom = _span(down, c.shape[1], start, stop)
    low, high = _span(across, c.shape[2], start, stop)
    k, size = a.shape[3], c.itemsize
    inner = b.shape[1] if a.shape[1] == 1 else a.shape[1]
    room = np.empty(room_for(k, high - low, size), c.dtype)
    for each in range(first, last):
        i, j = each // inner, each % inner
        left = a[i if i < a.shape[0] else 0, j if j < a.shape[1] else 0]
        right = b[i if i < b.shape[0] else 0, j if j < b.shape[1] else 0]
        blocks(
            c[each],
            room,
            bias,
            biased,
            left,
            left.strides[0] // size,
            left.strides[1] // size,
            right,
            right.strides[0] // size,
            right.strides[1] // size,
            k,
            c.shape[2],
            top,
            bottom,
            low,
            high,
            0,
        )


# -- what is divided, and how ----------------------------------------------------------------------

LEAST = 1 << 20  # multiplications; for fewer BLAS, which is called sooner, does as well
LEAST_TURNED = 1 << 17  # the same by a turned factor, as a layer's weights: there it is slower
LEAST_NARROW = 1 << 18  # the same where BLAS leaves half of the processor's vectors unused
SIDE = 16  # rows and columns of such a product, at least: to pack a panel for fewer does not pay
NARROW = 12  # columns for which vectors stay half empty
PART = 1 << 19  # multiplications of a part
LARGE = 1 << 26  # the same of a product that takes longer than waiting for a busy processor may
WIDE = 512  # rows or columns: as many, and a thread may have two parts, each with its own panels
PACKED, TURNED = 4, 8  # multiplications in whose time one element is packed, and turned as well
UNITS = 4, 16  # rows and columns, at a multiple of which parts begin

AXES = 4  # of a factor: two of stacks, as of examples and heads
WELL = 1 << 20  # bytes of a large result, of more blocks in depth: in 16 registers BLAS is sooner

_NO_BIAS = np.zeros(64, "f"), np.zeros(64)


class _Division(NamedTuple):
    """How products of some sizes are divided: in units of matrices, rows or columns."""

    units: tuple[int, int, int]
    size: int
    """Of all units."""

    parts: int
    large: bool


class _Plan(NamedTuple):
    """What is to be done for factors of some shapes and strides."""

    shape: Shape
    """Of the result."""

    stack: Shape
    """The same, with all matrices along one axis."""

    before: tuple[tuple[None, ...], tuple[None, ...]]
    """Indices that give the factors as many axes as `multiply` asks for."""

    copied: bool
    """Whether the second factor has no line in one piece."""

    division: _Division


def _division(shape: tuple[int, ...], k: int, turned: tuple[bool, bool], threads: int) -> _Division:
    """The division of a stack of products of depth k, whose factors are `turned` or not."""
    stack, m, n = shape
    work, (down, across) = stack * m * n * k, UNITS
    rows, columns = -(-m // down), -(-n // across)
    if stack >= 2 * threads:
        units, count, of_each = (1, 0, 0), stack, 2
    else:
        # Each thread packs what it needs of both factors: of one of them that is everything.
        left = m * PACKED if turned[0] else 0
        right = n * (TURNED if turned[1] else PACKED)
        by_rows = -(-rows // threads) * down * columns * across + right + left / threads
        by_columns = rows * down * -(-columns // threads) * across + right / threads + left
        size = m if by_rows <= by_columns else n
        units = (0, down, 0) if by_rows <= by_columns else (0, 0, across)
        count = rows if by_rows <= by_columns else columns
        of_each = 2 if size >= 2 * threads * WIDE else 1
    parts = parallel.count(count, max(1, -(-count * PART // work)), of_each, threads)
    return _Division(units, count, parts, work >= LARGE)


def _are_many(work: int, side: int, turned: bool) -> bool:
    """Whether loops take less time than BLAS for so many multiplications."""
    if work >= LEAST:
        return True
    if side < SIDE:
        return False
    return work >= LEAST_TURNED if turned else work >= LEAST_NARROW and _is_blas_narrow()


@cache
def _is_blas_narrow() -> bool:
    """Whether OpenBLAS takes a processor with AVX-512 for an older one, as 0.3.31 does Zen 5."""
    found = blas.control()
    return found is not None and found.core in OF_256_BITS and not _few_registers()


OF_256_BITS = {
    "Haswell",
    "Zen",
    "Sandybridge",
    "Bulldozer",
    "Piledriver",
    "Steamroller",
    "Excavator",
}
"""What OpenBLAS calls processors for which it has vectors of 256 bits."""


@cache
def _few_registers() -> bool:
    """Whether the processor for which numba compiles has 16 registers for vectors, not 32."""
    numba = compiler.numba_module()
    import llvmlite.binding

    chosen = numba.config.CPU_FEATURES
    features = llvmlite.binding.get_host_cpu_features().flatten() if chosen is None else chosen
    return registers(features).number < 32


def _in_order(a: Array) -> bool:
    return type(a) is np.ndarray and a.flags.aligned


@lru_cache(4096)
def _plan(
    left: Shape, left_strides: Shape, right: Shape, right_strides: Shape, size: int, threads: int
) -> _Plan | None:
    """The plan for factors with elements of `size` bytes; None where BLAS does as well."""
    axes, (m, k), (deep, n) = max(len(left), len(right)), left[-2:], right[-2:]
    if axes > AXES or k != deep or n < NARROW:
        return None
    before = (None,) * (AXES - len(left)), (None,) * (AXES - len(right))
    lead = [(1,) * len(b) + s[:-2] for b, s in zip(before, (left, right), strict=True)]
    stacks = [a if b == 1 else b if a in (1, b) else 0 for a, b in zip(*lead, strict=True)]
    stack = prod(stacks)
    work = stack * m * n * k
    if not work or not _are_many(work, min(m, n), right_strides[-1] != size):
        return None
    several = k > DEPTH // size
    if several and m * n * size > WELL and work >= LARGE and _few_registers():
        return None
    copied = size not in right_strides[-2:]
    turned = left_strides[-1] != size, not copied and right_strides[-1] != size
    division = _division((stack, m, n), k, turned, threads)
    return _Plan((*stacks, m, n)[AXES - axes :], (stack, m, n), before, copied, division)


def product(
    a: Array, b: Array, bias: Array | None = None, threads: Callable[[], int] = num_threads
) -> Array | None:
    """`a @ b + bias` in threads; None where BLAS does as well, or for other arrays.

    Among how many `threads` is asked only where it counts: that takes as long as a small product.

    Args:
        a: Matrices (..., m, k), with two axes before at most, of any layout.
        b: Matrices (..., k, n), likewise.
        bias: A vector (n,), contiguous.
        threads: Among how many it is divided at most.
    """
    if a.ndim < 2 or b.ndim < 2:
        return None
    dtype, work, other = a.dtype, a.size * b.shape[-1], b.size * a.shape[-2]
    if work < other:  # of a stack and one matrix
        work = other
    if not _are_many(work, min(a.shape[-2], b.shape[-1]), b.strides[-1] != b.itemsize):
        return None
    if b.dtype != dtype or dtype not in compiler.FLOATS or not (_in_order(a) and _in_order(b)):
        return None
    among = threads()
    plan = _plan(a.shape, a.strides, b.shape, b.strides, dtype.itemsize, among)
    if plan is None:
        return None
    if plan.copied:
        b = np.ascontiguousarray(b)
    y, (of_a, of_b) = np.empty(plan.shape, dtype), plan.before
    units, size, parts, large = plan.division
    biases = _NO_BIAS[dtype.itemsize == 8] if bias is None else bias
    arguments = (
        y.reshape(plan.stack),
        a[of_a],
        b[of_b],
        biases,
        int(bias is not None),
        *units,
        0,
        size,
    )
    parallel.share(multiply, arguments, parts, among, small=not large)
    return y
