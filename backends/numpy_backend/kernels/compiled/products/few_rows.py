"""Products of a few rows with a transposed matrix, such as a layer's weights, read as it lies.

BLAS copies both factors into blocks first: for twenty rows that takes longer than the product.
Here a tile of sums is held in registers, and runs over the whole depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.products.panels import vectors
from backends.numpy_backend.kernels.compiler import (
    Array,
    Read1,
    Read2,
    Write2,
    compiled,
    inlined_exactly,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from core.registry.threads import num_threads

FEW, SHALLOW = 24, 128
"""So many rows at most, of at least so many elements each, for which nothing has to be packed."""
LEAST = 1 << 17  # multiplications; for less BLAS is called sooner
PART = 1 << 20  # multiplications of a part
PART_OF_ONE = 1 << 17  # the same of one row, where reading the matrix is what takes time
ROWS, COLUMNS = 12, 16  # of a unit: of whole tiles, and of whole lines of a cache

_ZERO = np.zeros(1, "f"), np.zeros(1)


@emitted
def row_times_transposed(
    e: Emitter,
    y: Any,
    x: Any,
    W: Any,
    pitch: Any,
    b: Any,
    bias: Any,
    depth: Any,
    low: Any,
    high: Any,
) -> None:
    """`y[c] = b[c * bias] + sum(x[l] * W[c * pitch + l])` for each c from `low` to `high`."""
    width = 8  # of more rows side by side, 4 KiB apart, each would drive another out of the cache
    zeros = e.broadcast(e.constant(0.0))
    with e.loop(high, width, low) as c:
        lines = [e.at(W, (c + j).least(high - 1) * pitch) for j in range(width)]
        sums = [e.variable(zeros) for _ in lines]
        for lane, some in vectors(e, depth):
            factor = e.load(e.at(x, lane), where=some)
            for line, total in zip(lines, sums, strict=True):
                other = e.load(e.at(line, lane), where=some)
                total.set(e.fused(other, factor, total.get()))
        for j, value in enumerate(e.sums([total.get() for total in sums])):
            with e.when(c + j < high):
                more = e.read(e.at(b, (c + j) * bias))
                e.write(e.builder.fadd(value, more), e.at(y, c + j))


@emitted
def _times_transposed(
    e: Emitter,
    y: Any,
    x: Any,
    W: Any,
    b: Any,
    bias: Any,
    depth: Any,
    columns: Any,
    top: Any,
    bottom: Any,
    low: Any,
    high: Any,
) -> None:
    height, width = 4, 6 if e.wide.number == 32 else 3
    whole = depth & -e.lanes
    zeros = e.broadcast(e.constant(0.0))
    rest = e.lanes_from(whole - depth + e.lanes)

    def tile(height: int, width: int, r: Any, c: Any) -> None:
        above = [e.at(x, (r + i).least(bottom - 1) * depth) for i in range(height)]
        beside = [e.at(W, (c + j).least(high - 1) * depth) for j in range(width)]
        sums = [[e.variable(zeros) for _ in range(height)] for _ in range(width)]

        def add(load: Callable[[Any], Any]) -> None:
            factors = [load(line) for line in beside]
            for i, line in enumerate(above):
                other = load(line)
                for totals, factor in zip(sums, factors, strict=True):
                    totals[i].set(e.fused(factor, other, totals[i].get()))

        with e.loop(whole, e.lanes) as lane:
            add(lambda line: e.load(e.at(line, lane)))
        with e.when(depth.is_not(whole)):  # the last vector, of which some has had its turn
            add(lambda line: e.where(rest, e.load(e.at(line, depth - e.lanes)), zeros))
        for j, totals in enumerate(sums):
            values = e.sums([total.get() for total in totals])
            with e.when(c + j < high):
                more = e.read(e.at(b, (c + j) * bias))
                for i, value in enumerate(values):
                    with e.when(r + i < bottom):
                        e.write(e.builder.fadd(value, more), e.at(y, (r + i) * columns + c + j))

    with e.whether(bottom - top <= 1) as (one, several):
        with one:
            to, row = e.at(y, top * columns), e.at(x, top * depth)
            row_times_transposed(e, to, row, W, depth, b, bias, depth, low, high)
        with several, e.loop(high, width, low) as c, e.loop(bottom, height, top) as r:
            tile(height, width, r, c)


@inlined_exactly
def _span(unit: int, size: int, start: int, stop: int) -> Any:
    """Where units of some size begin and end; those of size 0 are everything."""
    end = stop * unit
    return (0, size) if unit == 0 else (start * unit, end if end < size else size)


@compiled
def times_transposed(
    y: Write2,
    x: Read2,
    W: Read2,
    b: Read1,
    bias: int,
    down: int,
    across: int,
    start: int,
    stop: int,
) -> None:
    """`y = x W^T + b[:: bias]` in units of so many rows `down`, or columns `across`."""
    top, bottom = _span(down, y.shape[0], start, stop)
    low, high = _span(across, y.shape[1], start, stop)
    _times_transposed(y, x, W, b, bias, x.shape[1], y.shape[1], top, bottom, low, high)


def product(
    x: Array, W: Array, b: Array | None = None, threads: Callable[[], int] = num_threads
) -> Array | None:
    """`x @ W + b` in threads; None where BLAS does as well, or the factors lie otherwise.

    Among how many `threads` is asked only where it counts: that takes as long as a small product.
    """
    if x.ndim != 2 or W.ndim != 2 or x.dtype != W.dtype or x.dtype not in compiler.FLOATS:
        return None
    (rows, depth), (deep, columns) = x.shape, W.shape
    work = rows * depth * columns
    if work < LEAST or rows > FEW or depth < SHALLOW or deep != depth:
        return None
    if not (W.flags.f_contiguous and x.flags.c_contiguous):
        return None
    if not (W.flags.aligned and x.flags.aligned):
        return None
    y, among = np.empty((rows, columns), x.dtype), threads()
    if rows > columns:
        size, down, across = -(-rows // ROWS), ROWS, 0
    else:  # a thread reads the same rows of the weights in each step, and finds them where it is
        size, down, across = -(-columns // COLUMNS), 0, COLUMNS
    least = -(-size * (PART_OF_ONE if rows == 1 else PART) // work)
    biases, bias = (_ZERO[x.dtype.itemsize == 8], 0) if b is None else (b, 1)
    parallel.share(
        times_transposed,
        (y, x, W.T, biases, bias, down, across, 0, size),
        parallel.count(size, least, 1, among),
        among,
        small=True,
    )
    return y
