"""Values added into places that may be named several times, in the order of the values."""

from __future__ import annotations

from math import prod
from typing import Any

from backends.cuda_backend.kernels.rows import THREADS, add_rows, merge, rank
from backends.cuda_backend.kernels.words import STORED
from core.arrays.scatter import places
from core.errors.scalars import is_number

RUN = 1 << 10
"""So many places are brought into order by counting; runs of these are merged two by two."""

_KNOWN = [name for name in STORED if name != "bool"]


def scatter_add(xp: Any, kernels: Any, a: Any, index: Any, values: Any, name: str) -> Any:
    """`a[index] += values` on the current device, where a kernel knows the dtype called `name`.

    Where an index is one array of integers whole rows are added, else single elements.
    """
    parts = index if isinstance(index, tuple) else (index,)
    parts = tuple([xp.asarray(part) if hasattr(part, "dtype") else part for part in parts])
    if name not in _KNOWN:
        xp.add.at(a, parts, values)
        return a
    if len(parts) == 1 and getattr(getattr(parts[0], "dtype", None), "kind", "") in ("i", "u"):
        named, width = parts[0].astype("int64", copy=False), prod(a.shape[1:])
        whole = (*named.shape, *a.shape[1:])
        named = xp.where(named < 0, named + a.shape[0], named)
    else:
        named, width = places(xp, a, parts), 1
        whole = named.shape
    count = prod(named.shape)
    if count * width == 0 or a.size == 0:
        return a
    if is_number(values):
        rows = xp.full(whole, values, dtype=a.dtype)
    else:
        rows = xp.broadcast_to(xp.asarray(values, dtype=a.dtype), whole)
    flat = xp.ascontiguousarray(xp.reshape(named, (-1,)))
    ranked, order = in_order(xp, kernels, flat)
    table = xp.ascontiguousarray(a)
    args = (table, xp.ascontiguousarray(rows), ranked, order, count, width, a.size // width)
    kernels.ready(add_rows(name))(_grid(count * width), (THREADS, 1), args)
    if not a.flags.c_contiguous:
        a[...] = table
    return a


def in_order(xp: Any, kernels: Any, flat: Any) -> tuple[Any, Any]:
    """The places in order, equal ones as they come, and where each stood."""
    count, width, grid, block = flat.size, RUN, _grid(flat.size), (THREADS, 1)
    found, next_one = [[xp.empty(count, dtype="int64") for _ in range(2)] for _ in range(2)]
    kernels.ready(rank())(grid, block, (flat, *found, count, width))
    while width < count:
        kernels.ready(merge())(grid, block, (*found, *next_one, count, width))
        found, next_one, width = next_one, found, 2 * width
    return found[0], found[1]


def _grid(count: int) -> tuple[int, int]:
    return min(-(-count // THREADS), 1 << 16), 1
