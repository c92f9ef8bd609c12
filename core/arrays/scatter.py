"""Values written and added into places, in nothing but the array API standard.

Each function takes the namespace `xp` first. None needs `out=`, or item assignment by arrays of
integers; item assignment by slices is all that is assumed of arrays beyond the namespace.
"""

from __future__ import annotations

import math
from typing import Any

from core.typing import AnyArray


def scatter_add(xp: Any, a: AnyArray, index: Any, values: Any) -> None:
    """`a[index] += values` in place, with repeated places added to as often as they are named.

    Where `index` holds arrays, the additions to one place happen in the order of `values`.
    """
    if is_basic(index):
        index = _for_every_axis(index, a.ndim)
        bare = tuple(part for part in index if part is not None)
        a[bare] = xp.reshape(a[index] + values, a[bare].shape)
        return
    places = _places(xp, a, index if isinstance(index, tuple) else (index,))
    if not isinstance(values, (int, float, complex)):
        values = xp.reshape(xp.broadcast_to(values, places.shape), (-1,))
    flat = xp.reshape(a, (-1,))
    a[...] = xp.reshape(_add_at(xp, flat, xp.reshape(places, (-1,)), values), a.shape)


def _for_every_axis(index: Any, ndim: int) -> tuple[Any, ...]:
    """A basic index with a slice for each axis it leaves out, as the standard wants it."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(part is Ellipsis for part in parts):
        return parts
    return (*parts, *[slice(None)] * (ndim - sum(part is not None for part in parts)))


def _places(xp: Any, a: AnyArray, parts: tuple[Any, ...]) -> AnyArray:
    """For each element that the index names, its position in the flattened array."""
    if not all(_is_integer_array(xp, part) for part in parts):
        return xp.reshape(xp.arange(math.prod(a.shape), device=a.device), a.shape)[parts]
    row: AnyArray = 0
    for part, n in zip(parts, a.shape, strict=False):
        row = row * n + xp.where(part < 0, part + n, part)
    rest = a.shape[len(parts) :]
    inside = xp.reshape(xp.arange(math.prod(rest), dtype=row.dtype, device=a.device), rest)
    return xp.reshape(row, (*row.shape, *(1,) * len(rest))) * math.prod(rest) + inside


def _is_integer_array(xp: Any, part: Any) -> bool:
    return hasattr(part, "dtype") and xp.isdtype(part.dtype, "integral")


def is_basic(index: Any) -> bool:
    """Whether an index is made of integers, slices, None and the ellipsis: no place comes twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice) or _is_integer(part)
        for part in parts
    )


def _is_integer(part: Any) -> bool:
    return not isinstance(part, bool) and hasattr(part, "__index__") and not hasattr(part, "shape")


def _add_at(xp: Any, flat: AnyArray, places: AnyArray, values: Any) -> AnyArray:
    """Add round by round: the first value of each place, then the second, ..."""
    if places.shape[0] == 0 or flat.shape[0] == 0:
        return flat
    order = xp.argsort(places, stable=True)
    ranked = xp.take(places, order, axis=0)
    every = xp.arange(flat.shape[0], dtype=places.dtype, device=flat.device)
    first = xp.searchsorted(ranked, every)
    count = xp.searchsorted(ranked, every, side="right") - first
    last = places.shape[0] - 1
    for k in range(int(xp.max(count))):
        pick = xp.minimum(first + k, xp.full_like(first, last))
        extra = values
        if not isinstance(values, (int, float, complex)):
            extra = xp.take(xp.take(values, order, axis=0), pick, axis=0)
        flat = xp.where(count > k, flat + extra, flat)
    return flat


def copy_into(xp: Any, dst: AnyArray, src: Any) -> None:
    """Write a number, or an array that broadcasts, into `dst`, in the dtype of `dst`."""
    if not isinstance(src, (bool, int, float, complex)):
        src = xp.broadcast_to(xp.astype(src, dst.dtype, copy=False), dst.shape)
    dst[...] = src
