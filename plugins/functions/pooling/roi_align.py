"""Means and maxima of regions sampled between elements (He et al. 2017, arXiv:1703.06870)."""

from __future__ import annotations

from math import isfinite
from typing import Any

from core import Variable
from core.errors.kinds import checked
from core.errors.scalars import is_whole
from core.typing import Array, Pair
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.reshape import reshape
from plugins.functions.array.take import Take
from plugins.functions.array.where import where
from plugins.functions.namespace.selection import TakeAlongAxis
from plugins.functions.pooling.regions import prepared
from plugins.functions.pooling.roi_average_pooling import weighed
from plugins.functions.refusal import refused

Samples = int | None | tuple[int | None, int | None]


@checked
def roi_average_align_2d(
    x: Array,
    rois: Array,
    roi_indices: Array,
    outsize: Pair,
    spatial_scale: float,
    sampling_ratio: Samples = None,
) -> Variable:
    """The means of regions of images, each divided into a grid of bins and sampled evenly.

    A region has its scaled corners where they are, without rounding, and is one element high and
    wide at least. In each bin a grid of points is sampled, by interpolating between the four
    elements around a point; points farther than one element outside of the image count as 0.

    Args:
        x: Floating, (n, c, h, w).
        rois: Regions (y_min, x_min, y_max, x_max), (r, 4), of the dtype of `x`.
        roi_indices: Which image each region is of, integers (r,).
        outsize: How many rows and columns of bins, for each or for both.
        spatial_scale: How large `x` is beside the image that the regions are measured in.
        sampling_ratio: How many rows and columns of points each bin has, for each or for both;
            None takes as many as there are elements, rounded up.

    Returns:
        (r, c, *outsize). There is no gradient to the regions.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `outsize` or `sampling_ratio` is less than 1.

    Source: He, Gkioxari, Dollár and Girshick 2017 (arXiv:1703.06870), section 3.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> F.roi_average_align_2d(x, np.array([[0, 0, 2, 2]], "f"), np.array([0]), 1, 1.0)
    variable([[[[5.]]]], dtype=float32)
    """
    name = "roi_average_align_2d"
    images, regions, indices, size = prepared(name, x, rois, roi_indices, outsize)
    xp, dtype, sides = images.xp, images.dtype, []
    with images.backend.beside(images.array):
        for length, (place, inside, count) in zip(
            images.shape[2:],
            _points(name, images, regions, size, spatial_scale, sampling_ratio),
            strict=True,
        ):
            element = xp.arange(length, dtype=place.dtype, device=place.device)
            share = 1.0 - xp.abs(place[..., None] - element)
            points = xp.astype(xp.maximum(share, xp.zeros_like(share)), dtype)
            counted = points * xp.astype(inside, dtype)[..., None]
            sides.append(xp.sum(counted, axis=2) / xp.astype(count, dtype)[:, None, None])
    return weighed(images, indices, *sides)


@checked
def roi_max_align_2d(
    x: Array,
    rois: Array,
    roi_indices: Array,
    outsize: Pair,
    spatial_scale: float,
    sampling_ratio: Samples = None,
) -> Variable:
    """The maxima of regions of images, each divided into a grid of bins and sampled evenly.

    Regions, bins and points are those of `roi_average_align_2d`, but points outside of the image
    are left out.

    Args:
        x: Floating, (n, c, h, w).
        rois: Regions (y_min, x_min, y_max, x_max), (r, 4), of the dtype of `x`.
        roi_indices: Which image each region is of, integers (r,).
        outsize: How many rows and columns of bins, for each or for both.
        spatial_scale: How large `x` is beside the image that the regions are measured in.
        sampling_ratio: How many rows and columns of points each bin has, for each or for both;
            None takes as many as there are elements, rounded up.

    Returns:
        (r, c, *outsize), 0 for bins without points. There is no gradient to the regions.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `outsize` or `sampling_ratio` is less than 1.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> F.roi_max_align_2d(x, np.array([[0, 0, 2, 2]], "f"), np.array([0]), 1, 1.0)
    variable([[[[7.5]]]], dtype=float32)
    """
    name = "roi_max_align_2d"
    images, regions, indices, size = prepared(name, x, rois, roi_indices, outsize)
    if 0 in images.shape[1:]:
        raise refused(name, "prod(x.shape[1:]) > 0", "0 <= 0")
    with images.backend.beside(images.array):
        rows, columns = _points(name, images, regions, size, spatial_scale, sampling_ratio)
        sampled = _sampled(images, indices, rows[0], columns[0])
        known = rows[1][:, None, :, :, None, None] & columns[1][:, None, None, None, :, :]
        xp, like = images.xp, {"dtype": images.dtype, "device": images.array.device}
        nothing = xp.full(sampled.shape, -float("inf"), **like)
        best = _greatest(where(known, sampled, nothing))
        found = xp.any(known, axis=(3, 5))
        return where(found, best, xp.zeros_like(best.array))


def _greatest(x: Variable) -> Variable:
    """The maxima over axes 3 and 5; of several that are equal, the first has the derivative."""
    r, c, height, down, width, across = x.shape
    x = reshape(transpose(x, (0, 1, 2, 4, 3, 5)), (r, c, height, width, down * across))
    at = x.xp.argmax(x.array, axis=4, keepdims=True)
    return reshape(TakeAlongAxis.call(x, at, axis=4), (r, c, height, width))


def _sampled(x: Variable, roi_indices: Any, rows: Any, columns: Any) -> Variable:
    """The values at all points: (r, c, bins, points, bins, points)."""
    xp, (_, c, h, w) = x.xp, x.shape
    elements = reshape(transpose(x, (0, 2, 3, 1)), (-1, c))
    first = xp.astype(roi_indices, xp.int64)[:, None, None, None, None] * (h * w)
    values: Any = 0.0
    for row, share in _neighbours(xp, rows[:, :, :, None, None], h):
        for column, other in _neighbours(xp, columns[:, None, None, :, :], w):
            at = first + row * w + column
            found = reshape(Take.call(elements, xp.reshape(at, (-1,)), axis=0), (*at.shape, c))
            values = values + found * xp.astype(share * other, x.dtype)[..., None]
    return transpose(values, (0, 5, 1, 2, 3, 4))


def _neighbours(xp: Any, place: Any, length: int) -> list[tuple[Any, Any]]:
    """The elements before and behind places, and what each counts there."""
    before = xp.floor(place)
    beyond = place - before
    low = xp.astype(before, xp.int64)
    high = xp.minimum(low + 1, xp.full_like(low, length - 1))
    return [(low, 1.0 - beyond), (high, beyond)]


def _points(
    name: str, x: Variable, rois: Any, outsize: Any, scale: float, sampling_ratio: Samples
) -> list[tuple[Any, Any, Any]]:
    """For rows and for columns: where each point lies, which of them count, and how many there are.

    Those that do not count lie anywhere on the axis.
    """
    given = sampling_ratio
    ratios = tuple(given) if isinstance(given, (tuple, list)) else (given, given)
    counts = [ratio for ratio in ratios if ratio is not None]
    if len(ratios) != 2 or not all(is_whole(n) and n > 0 for n in counts):
        raise ValueError(
            f"{name}: expected a sampling_ratio of at least 1, or two, got {sampling_ratio!r}"
        )
    xp = x.xp
    if x.backend.dtype_name(rois.dtype) != "float64":
        rois = xp.astype(rois, xp.float32)
    sides = []
    for axis in range(2):
        low, high = rois[:, axis] * scale, rois[:, axis + 2] * scale
        length = x.shape[axis + 2]
        place, real, count = _grid(name, xp, low, high, outsize[axis], ratios[axis])
        inside = real & (place >= -1) & (place <= length)
        zero, last = xp.zeros_like(place), xp.full_like(place, length - 1)
        place = xp.minimum(xp.maximum(xp.where(inside, place, zero), zero), last)
        sides.append((place, inside, count))
    return sides


def _grid(
    name: str, xp: Any, low: Any, high: Any, bins: int, ratio: int | None
) -> tuple[Any, Any, Any]:
    """Positions (r, bins, points), which of them are points of the region, and how many a bin has.

    Regions that have fewer points than others are filled up.
    """
    like = {"dtype": low.dtype, "device": low.device}
    size = xp.maximum(high - low, xp.ones_like(low))
    count = xp.ceil(size / bins) if ratio is None else xp.full_like(low, ratio)
    most = ratio or (_whole(name, xp.max(count)) if low.shape[0] else 1)
    number = xp.arange(most, **like)
    part = (number + 0.5) / count[:, None, None]
    bin_size = (size / bins)[:, None, None]
    place = low[:, None, None] + (xp.arange(bins, **like)[:, None] + part) * bin_size
    counts = xp.broadcast_to(number < count[:, None, None], place.shape)
    return place, counts, count


def _whole(name: str, count: Any) -> int:
    """The greatest number of points, which memory is taken for."""
    if not isfinite(count):
        raise ValueError(
            f"{name}: expected rois and a spatial_scale that are finite, as bins have a point for "
            "each element; got a region of a size that is not. Set a sampling_ratio, or leave "
            "out such regions."
        )
    return int(count)
