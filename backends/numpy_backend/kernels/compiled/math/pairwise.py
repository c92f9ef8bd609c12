"""Sums of rows that lie in one piece, with NumPy's bits.

NumPy halves a row until `LEAF` elements are left at most, makes eight sums of each leaf, every
eighth element to each, and adds them two by two (Higham, "The accuracy of floating point
summation", SIAM J. Sci. Comput. 14, 1993). It does so one element after the other; here the eight
are a vector, and rows, or parts of a long one, are added in threads.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiled.math.of_rows import as_rows
from backends.numpy_backend.kernels.compiler import (
    Array,
    Indices,
    Read2,
    Write1,
    Write2,
    compiled,
    inlined_exactly,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from core.registry.threads import num_threads

LEAF = 128  # elements at most, of which NumPy makes eight sums
EIGHT = 8  # elements at least: it adds fewer from the first to the last
LEAST = 1 << 14  # elements, of fewer of which NumPy takes as long
PART = 1 << 17  # elements of a part
MOST = 1 << 22  # of a part of a row: its leaves are kept in a list


@lru_cache(64)
def halved(size: int, longest: int = LEAF) -> tuple[Array, Array]:
    """The bounds of the parts of a row that NumPy halves until none is longer.

    And how many sums are added to that of each part, the latest first: a half's other half, the
    other half of both, and so on.

    >>> [numbers.tolist() for numbers in halved(300)]
    [[0, 72, 144, 216, 300], [0, 1, 0, 2]]
    """
    sizes, joins = np.array([size]), np.array([0])
    while (longer := sizes > longest).any():
        half = np.where(longer, sizes // 2 // EIGHT * EIGHT, 0)
        sizes = np.stack([half, sizes - half], axis=1).ravel()
        joins = np.stack([np.zeros_like(joins), joins + longer], axis=1).ravel()
        sizes, joins = sizes[sizes > 0], joins[sizes > 0]
    return np.cumsum([0, *sizes]), joins


@emitted
def _of_leaf(e: Emitter, row: Any, start: Any, stop: Any, total: Any) -> None:
    """The sum of a leaf."""
    eight, whole = e.variable(e.load(e.at(row, start), EIGHT)), start + ((stop - start) & -EIGHT)
    with e.loop(whole, EIGHT, start + EIGHT) as i:
        eight.set(e.builder.fadd(eight.get(), e.load(e.at(row, i), EIGHT)))
    one = e.variable(_neighbours_added(e, eight.get()))
    with e.loop(stop, 1, whole) as i:
        one.set(e.builder.fadd(one.get(), e.read(e.at(row, i))))
    e.write(one.get(), total)


def _neighbours_added(e: Emitter, vector: Any) -> Any:
    """The sum over the lanes of one vector: of neighbours, of neighbouring sums, and so on."""
    from llvmlite import ir

    lanes = vector.type.count
    while lanes > 1:
        even, odd = (e.shuffle(vector, vector, list(range(i, lanes, 2))) for i in (0, 1))
        vector, lanes = e.builder.fadd(even, odd), lanes // 2
    return e.builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@inlined_exactly
def _join(sums: Any, joins: Any) -> Any:
    """The sum of all parts; those of some of them are put in the place of theirs."""
    top = 0
    for part in range(joins.size):
        sums[top] = sums[part]
        for _ in range(joins[part]):
            top -= 1
            sums[top] += sums[top + 1]
        top += 1
    return ZERO + sums[0]  # NumPy begins with 0.0, to which -0.0 adds nothing


@compiled
def _of_rows(
    x: Read2, bounds: Indices, joins: Indices, sums: Write2, y: Write1, start: int, stop: int
) -> None:
    for r in range(start, stop):
        for leaf in range(joins.size):
            _of_leaf(x[r], bounds[leaf], bounds[leaf + 1], sums[r, leaf:])
        y[r] = _join(sums[r], joins)


@compiled
def _of_parts(sums: Write1, joins: Indices, y: Write1) -> None:
    y[0] = _join(sums, joins)


def total(a: Array, axis: Any, options: Any) -> Array | None:
    """The sums along last axes; None for other arrays and small ones."""
    if a.size < LEAST or (found := as_rows(a, axis, options)) is None:
        return None
    rows, shape = found
    n = rows.shape[1]
    if n < EIGHT:
        return None
    y = np.empty(len(rows), a.dtype)
    if n >= 2 * PART:
        for row, place in zip(rows, np.split(y, len(y)), strict=True):
            _long(row, place)
    else:
        bounds, joins = halved(n)
        sums = np.empty((len(rows), len(joins)), a.dtype)
        parallel.divide(_of_rows, len(rows), -(-PART // n), rows, bounds, joins, sums, y)
    return y.reshape(shape)[()]


def _long(row: Array, y: Array) -> None:
    """The sum of a row, of which parts are added in threads."""
    part = len(row) // (2 * num_threads()) + LEAF  # for halves are not of one length
    bounds, joins = halved(len(row), min(max(PART, part), MOST))
    sums = np.empty(len(joins), row.dtype)
    calls = []
    for i, (start, stop) in enumerate(pairwise(bounds.tolist())):
        leaves = halved(stop - start)
        of_leaves = np.empty((1, len(leaves[1])), row.dtype)
        calls.append((row[None, start:stop], *leaves, of_leaves, sums[i : i + 1], 0, 1))
    parallel.each(_of_rows, calls)
    _of_parts(sums, joins, y)
