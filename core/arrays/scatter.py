"""Values written and added into places, in nothing but the array API standard.

Each function takes the namespace `xp` first. None needs `out=`, or item assignment.
"""

from __future__ import annotations

import math
from typing import Any

from core.typing import AnyArray


def native_place(array: AnyArray) -> Any:
    """What `device=` takes for arrays beside another: None of one that its library is tracing."""
    return getattr(array, "device", None)


def places(xp: Any, a: AnyArray, parts: tuple[Any, ...]) -> AnyArray:
    """For each element that the index names, its position in the flattened array."""
    dtypes = [getattr(part, "dtype", None) for part in parts]
    if not dtypes or not all(d is not None and xp.isdtype(d, "integral") for d in dtypes):
        if not any(part is Ellipsis or hasattr(part, "dtype") for part in parts):
            parts = (*parts, Ellipsis)  # the standard wants something for every axis
        return xp.reshape(xp.arange(math.prod(a.shape), device=native_place(a)), a.shape)[parts]
    row: AnyArray = 0
    for part, n in zip(parts, a.shape, strict=False):
        part = xp.astype(part, xp.int64, copy=False)  # smaller integers do not count so far
        row = row * n + xp.where(part < 0, part + n, part)
    rest = a.shape[len(parts) :]
    inside = xp.reshape(xp.arange(math.prod(rest), dtype=row.dtype, device=native_place(a)), rest)
    return xp.reshape(row, (*row.shape, *(1,) * len(rest))) * math.prod(rest) + inside


def add_at(xp: Any, flat: AnyArray, places: AnyArray, values: Any) -> AnyArray:
    """Add round by round: the first value of each place, then the second, ..."""
    if places.shape[0] == 0 or flat.shape[0] == 0:
        return flat
    order = xp.argsort(places, stable=True)
    ranked = xp.take(places, order, axis=0)
    every = xp.arange(flat.shape[0], dtype=places.dtype, device=native_place(flat))
    first = xp.searchsorted(ranked, every)
    count = xp.searchsorted(ranked, every, side="right") - first
    for k in range(int(xp.max(count))):
        pick = xp.minimum(first + k, xp.full_like(first, places.shape[0] - 1))
        extra = values
        if not isinstance(values, (int, float, complex)):
            extra = xp.take(xp.take(values, order, axis=0), pick, axis=0)
        flat = xp.where(count > k, flat + extra, flat)
    return flat


def replaced(xp: Any, a: AnyArray, index: Any, value: Any) -> AnyArray:
    """A new array: `a` with `value` in the places of an index, which names none of them twice."""
    where = places(xp, a, index if isinstance(index, tuple) else (index,))
    value = xp.broadcast_to(xp.asarray(value, dtype=a.dtype, device=native_place(a)), where.shape)
    if math.prod(where.shape) == 0:
        return a
    where, value = xp.reshape(where, (-1,)), xp.reshape(value, (-1,))
    order = xp.argsort(where, stable=True)
    ranked = xp.take(where, order, axis=0)
    every = xp.arange(math.prod(a.shape), dtype=where.dtype, device=native_place(a))
    last = xp.full_like(every, where.shape[0] - 1)
    pick = xp.minimum(xp.searchsorted(ranked, every), last)
    new = xp.take(xp.take(value, order, axis=0), pick, axis=0)
    found = xp.where(xp.take(ranked, pick, axis=0) == every, new, xp.reshape(a, (-1,)))
    return xp.reshape(found, a.shape)
