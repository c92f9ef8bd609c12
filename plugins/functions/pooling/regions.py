"""Regions of interest and the bins they are divided into, in numbers of elements."""

from __future__ import annotations

from typing import Any

from core import as_variable
from core.arrays.windows import per_axis
from core.typing import Array
from plugins.functions.labels import refuse_outside
from plugins.functions.refusal import dtype_name, refused, require

IMAGES = "Each region names its image, a row of x."


def whole(xp: Any, positions: Any, scale: float) -> Any:
    """Scaled positions rounded to integers, halves to even ones."""
    return xp.astype(xp.round(positions * scale), xp.int64)


def bins(xp: Any, low: Any, size: Any, count: int, length: int) -> tuple[Any, Any]:
    """First elements of `count` bins and the elements behind their last, on an axis of `length`.

    `low` and `size` (r,) are those of regions, which have one element at least; the bins (r, count)
    overlap where they do not divide a region evenly, and are cut at the ends of the axis.
    """
    size = xp.maximum(size, xp.ones_like(size))[:, None]
    number = xp.arange(count, dtype=size.dtype, device=size.device)[None, :]
    start = low[:, None] + number * size // count
    stop = low[:, None] - (-(number + 1) * size) // count
    ends = xp.zeros_like(start), xp.full_like(start, length)
    return tuple([xp.minimum(xp.maximum(edge, ends[0]), ends[1]) for edge in (start, stop)])


def members(xp: Any, edges: tuple[Any, Any], length: int) -> Any:
    """Which elements of an axis lie in which bin: booleans (r, count, length)."""
    start, stop = edges
    place = xp.arange(length, dtype=start.dtype, device=start.device)
    return (place >= start[..., None]) & (place < stop[..., None])


def prepared(name: str, x: Array, rois: Array, roi_indices: Any, outsize: Any) -> tuple[Any, ...]:
    """`x` as a Variable, regions and indices as arrays, and the two output sizes."""
    x, rois, roi_indices = as_variable(x), as_variable(rois), as_variable(roi_indices)
    require(
        name,
        ("x.ndim == 4", x.ndim, 4),
        ("rois.shape == (r, 4)", rois.shape[1:], (4,)),
        ("roi_indices.shape == (r,)", roi_indices.shape, rois.shape[:1]),
        ("x.dtype == rois.dtype", dtype_name(x), dtype_name(rois)),
    )
    if 0 in x.shape[2:]:
        raise refused(name, "x.shape[2:] without 0", f"{tuple(x.shape[2:])}")
    rois, roi_indices = rois.array, roi_indices.array
    refuse_outside(name, x.backend, "roi_indices", roi_indices, x.shape[0], IMAGES)
    return x, rois, roi_indices, positive(name, outsize)


def positive(name: str, outsize: Any) -> tuple[int, ...]:
    """The output's height and width, at least 1."""
    size = per_axis(outsize, 2, "outsize")
    if min(size) < 1:
        raise ValueError(f"{name}: expected an output size of at least 1, got {outsize!r}")
    return size
