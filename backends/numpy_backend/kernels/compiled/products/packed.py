"""A matrix that is packed once, by which many matrices are multiplied, one after the other.

So the weights of a recurrent layer serve the steps of a sequence: to pack them anew in each, or to
read rows that lie far apart, takes longer than a product of a few rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.products.blocked import (
    LARGE,
    ROWS,
    _depth,
    _multiply,
    _pack_columns,
    _tile,
)
from backends.numpy_backend.kernels.compiled.products.few_rows import _span
from backends.numpy_backend.kernels.compiled.products.panels import LANE_BYTES
from backends.numpy_backend.kernels.compiler import (
    Array,
    Read1,
    Read2,
    View3,
    Write1,
    Write2,
    compiled,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted

PART = 1 << 20  # multiplications of a part


@emitted
def _pack(
    e: Emitter, to: Any, b: Any, line: Any, place: Any, k: Any, across: Any, low: Any, high: Any
) -> None:
    """Columns low to high of `b[d * line + l * place]`, of all that are packed `across`."""
    with e.loop(k, deep := _depth(e, k)) as d:
        depth = (k - d).least(deep)
        panels, first = e.at(to, d * across + low * depth), e.at(b, d * line + low * place)
        _pack_columns(e, panels, first, line, place, depth, high - low)


@emitted
def _add(
    e: Emitter,
    c: Any,
    n: Any,
    a: Any,
    k: Any,
    panels: Any,
    across: Any,
    m: Any,
    low: Any,
    high: Any,
) -> None:
    """`c[r * n + l] += sum(a[r * k + d] * b[d, l])` for columns l from low to high."""
    width = _tile(e)[1] * e.lanes
    with e.loop(k, deep := _depth(e, k)) as d, e.loop(m, ROWS) as r:
        depth, rows = (k - d).least(deep), (m - r).least(ROWS)
        to, block = e.at(c, r * n + low), e.at(panels, d * across + low * depth)
        left, right = (e.at(a, r * k + d), k, k, e.number(1)), (block, depth, e.number(width))
        none, more = e.number(0), e.number(1)
        _multiply(e, to, n, to, none, more, *left, *right, rows, depth, high - low)


@emitted
def add_packed(
    e: Emitter,
    c: Any,
    place: Any,
    n: Any,
    a: Any,
    first: Any,
    k: Any,
    panels: Any,
    across: Any,
    m: Any,
) -> None:
    """`c += a b` for m rows of dense matrices that begin at places; b is packed, `across` wide."""
    none = e.number(0)
    _add(e, e.at(c, place), n, e.at(a, first), k, panels, across, m, none, n)


@compiled
def pack(panels: Write1, b: View3, unit: int, start: int, stop: int) -> None:
    """The columns of `b[0]` in panels, in units of so many."""
    k, n = b.shape[1], b.shape[2]
    low, high = _span(unit, n, start, stop)
    across = (n + unit - 1) // unit * unit
    line, place = b.strides[1] // b.itemsize, b.strides[2] // b.itemsize
    _pack(panels, b, line, place, k, across, low, high)


@compiled
def add_product(c: Write2, a: Read2, panels: Read1, unit: int, start: int, stop: int) -> None:
    """Add to `c` the product of `a` and what is packed, in units of so many columns."""
    low, high = _span(unit, c.shape[1], start, stop)
    across = (c.shape[1] + unit - 1) // unit * unit
    _add(c, c.shape[1], a, a.shape[1], panels, across, c.shape[0], low, high)


class Packed:
    """A matrix (k, n) of floats, of any layout, packed.

    There are `panels`, `across` columns wide. Each thread has the same columns in every product,
    which then lie in its processor's cache.
    """

    def __init__(self, b: Array) -> None:
        if b.itemsize not in b.strides:  # no line is in one piece
            b = np.ascontiguousarray(b)
        (k, n), self._unit = b.shape, LANE_BYTES // b.itemsize
        self._size = -(-n // self._unit)
        self._of_unit = self._unit * k
        self.panels = np.empty(self._size * self._of_unit, b.dtype)
        self.across = self._size * self._unit
        self._share(pack, self.panels, b[None], rows=1)

    def add_product(self, a: Array, c: Array) -> None:
        """`c += a @ b` of dense matrices (m, k) and (m, n)."""
        self._share(add_product, c, a, self.panels, rows=len(a))

    def _share(self, loop: Any, *arrays: Array, rows: int) -> None:
        of_unit = max(1, self._of_unit * rows)
        parts = parallel.count(self._size, -(-PART // of_unit), 1)
        small = of_unit * self._size < LARGE
        parallel.share(loop, (*arrays, self._unit, 0, self._size), parts, small=small)
