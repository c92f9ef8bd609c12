"""Images read at places between their elements; gradients reach images and places."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import (
    Refused,
    cast,
    dtype_of,
    host,
    ints,
    like,
    plain,
    sized,
)
from plugins.imported.operators.moving import padded


def _picked(x: Any, rows: Any, index: Any, inside: Any = None) -> Any:
    """Elements (*places, c) of images (n, c, *size) at whole places; 0 outside of them."""
    size = x.shape[2:]
    pixels = F.moveaxis(F.reshape(x, (*x.shape[:2], math.prod(size))), 1, 2)
    strides = [math.prod(size[i + 1 :]) for i in range(len(size))]
    flat = sum([i * s for i, s in zip(index, strides, strict=True)])
    found = pixels[tuple([like(x, each) for each in np.broadcast_arrays(rows, flat)])]
    if inside is None or np.all(inside):
        return found
    kept = np.broadcast_to(inside, found.shape[:-1])[..., None].astype(host(x).dtype)
    return found * like(x, kept)


def _bounced(x: Any, low: float, high: float) -> Any:
    """Numbers reflected at two ends until they lie between them."""
    wide = max(high - low, 1e-9)
    turn = np.mod(x - low, 2 * wide)
    return low + np.where(turn > wide, 2 * wide - turn, turn)


class _Border:
    """What lies beyond the ends of one axis."""

    def __init__(self, how: str, n: int, corners: bool) -> None:
        self._how, self._n = how, n
        self._ends = (0.0, n - 1.0) if corners else (-0.5, n - 0.5)

    def within(self, x: Any) -> Any:
        """Places of which those beyond the ends are brought back, with their gradients."""
        if self._how == "zeros":
            return x
        a = host(x).astype("d")
        if self._how == "border":
            outside = (a < self._ends[0]) | (a > self._ends[1])
            kept, moved = ~outside, np.where(outside, np.clip(a, 0, self._n - 1), 0)
        else:
            moved = _bounced(a, *self._ends)
            ahead = np.abs(_bounced(a + 1e-6, *self._ends) - moved - 1e-6) < 1e-9
            kept = np.where(ahead, 1.0, -1.0)
            moved = moved - kept * a
        dtype = host(x).dtype
        return x * like(x, np.asarray(kept, dtype)) + like(x, np.asarray(moved, dtype))

    def element(self, i: Any) -> tuple[Any, Any]:
        """Elements of whole places, and which of them are in the image."""
        last = max(self._n - 1, 0)
        if self._how == "zeros":
            return np.clip(i, 0, last), (i >= 0) & (i < self._n)
        if self._how == "reflection":
            i = np.trunc(_bounced(i, *self._ends)).astype("int64")
        return np.clip(i, 0, last), np.ones(np.shape(i), bool)


def _linear(t: Any) -> list[Any]:
    return [1 - t, t]


def _cubic(t: Any) -> list[Any]:
    """The weights of four neighbours (Keys 1981), with a slope of -0.75."""
    a = -0.75

    def near(t: Any) -> Any:
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def far(t: Any) -> Any:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _seen(borders: Any, places: list[Any]) -> tuple[list[Any], Any]:
    """The elements that stand for places, by axis, and which of them are in the image."""
    known = [b.element(i) for b, i in zip(borders, places, strict=True)]
    return [i for i, _ in known], np.all([ok for _, ok in known], axis=0)


def sampled(x: Any, rows: Any, places: Any, borders: Any, weights: Any = _linear) -> Any:
    """Images (n, c, *size) at places, one array for each axis, as (*places, c)."""
    floors = [np.floor(host(p)) for p in places]
    first = [f.astype("int64") - (1 if weights is _cubic else 0) for f in floors]
    parts = [weights(p - like(x, f)) for p, f in zip(places, floors, strict=True)]
    found: Any = None
    for corner in product(*[range(len(each)) for each in parts]):
        index, inside = _seen(borders, [f + k for f, k in zip(first, corner, strict=True)])
        weight = parts[0][corner[0]]
        for part, k in zip(parts[1:], corner[1:], strict=True):
            weight = weight * part[k]
        term = F.expand_dims(weight, -1)
        picked = _picked(x, rows, index, inside)
        term = picked * F.broadcast_to(term, picked.shape)
        found = term if found is None else found + term
    return found


MODES = {"linear": _linear, "bilinear": _linear, "cubic": _cubic, "bicubic": _cubic}


@plain
def _grid_sample(node: Any, x: Any, grid: Any) -> Any:
    size, corners = x.shape[2:], bool(node.get("align_corners", 0))
    mode = node.get("mode", "linear")
    if mode not in (*MODES, "nearest"):
        raise NotImplementedError(f"the mode {mode}")
    borders = [_Border(node.get("padding_mode", "zeros"), n, corners) for n in size]
    rows = np.arange(x.shape[0]).reshape((-1, *(1,) * len(size)))
    given = [cast(grid, dtype_of(x))[..., len(size) - 1 - i] for i in range(len(size))]
    if corners:
        places = [(p + 1) * ((n - 1) / 2) for p, n in zip(given, size, strict=True)]
    else:
        places = [((p + 1) * n - 1) * 0.5 for p, n in zip(given, size, strict=True)]
    if mode == "nearest":
        places = [like(x, np.rint(host(p))) for p in places]
    if MODES.get(mode) is not _cubic or node.get("padding_mode") != "border":  # else elements are
        places = [b.within(p) for b, p in zip(borders, places, strict=True)]
    if mode == "nearest":
        index, inside = _seen(borders, [host(p).astype("int64") for p in places])
        return F.moveaxis(_picked(x, rows, index, inside), -1, 1)
    return F.moveaxis(sampled(x, rows, places, borders, MODES[mode]), -1, 1)


@plain
def _affine_grid(node: Any, theta: Any, size: Any) -> Any:
    n, _, *spatial = sized(ints(size))
    sized((n, *spatial, len(spatial)))
    axes = []
    for length in spatial:
        reach = 1.0 if node.get("align_corners", 0) else 1 - 1 / max(length, 1)
        axes.append(np.linspace(-reach, reach, length))
    grid = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(spatial)], axis=-1)
    flat = like(theta, grid.reshape(-1, len(spatial) + 1).astype(host(theta).dtype))
    flat = F.broadcast_to(F.expand_dims(flat, 0), (n, *flat.shape))
    return F.reshape(F.matmul(flat, theta, transb=True), (n, *spatial, len(spatial)))


def _points(start: float, length: float, bins: int, count: int) -> Any:
    """Where the samples of the bins of a region lie along an axis."""
    step = length / bins
    inner = (np.arange(max(count, 1)) + 0.5) * step / max(count, 1)
    return (start + np.arange(bins)[:, None] * step + inner).reshape(-1)


def _corners(p: Any, n: int) -> tuple[Any, Any, Any]:
    """The element before, the one after, and the way between; outside of the image nothing."""
    at = np.maximum(p, 0)
    low = np.minimum(at.astype(int), n - 1)
    high = np.minimum(low + 1, n - 1)
    way = np.where(low >= n - 1, 0.0, at - low)
    inside = ((p >= -1) & (p <= n)).astype("d")
    return np.stack([low, high]), np.stack([(1 - way) * inside, way * inside]), inside


@plain
def _roi_align(node: Any, x: Any, rois: Any, batch: Any) -> Any:
    out = node.get("output_height", 1), node.get("output_width", 1)
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    half = node.get("coordinate_transformation_mode", usual) == "half_pixel"
    a = host(rois).astype("d") * node.get("spatial_scale", 1.0) - (0.5 if half else 0.0)
    largest = node.get("mode", "avg") == "max"
    found = []
    sized((len(a), x.shape[1], *out))
    for (x0, y0, x1, y1), row in zip(a, ints(batch), strict=True):
        regions = []
        for start, length, bins, n in (
            (y0, y1 - y0, out[0], x.shape[2]),
            (x0, x1 - x0, out[1], x.shape[3]),
        ):
            length = length if half else max(length, 1.0)
            count = node.get("sampling_ratio", 0) or max(math.ceil(length / bins), 0)
            sized((bins, count))
            regions.append((count, *_corners(_points(start, length, bins, count), n)))
        (ny, iy, wy, _), (nx, ix, wx, _) = regions
        sized((x.shape[1], iy.shape[1], ix.shape[1]))
        terms = []
        for i, j in product((0, 1), (0, 1)):
            picked = _picked(x, row, [iy[i][:, None], ix[j][None, :]])
            weight = (wy[i][:, None] * wx[j][None, :])[..., None].astype(host(x).dtype)
            terms.append(picked * like(x, np.broadcast_to(weight, picked.shape)))
        value = F.max(F.stack(terms), axis=0) if largest else sum(terms)
        value = F.reshape(value, (out[0], max(ny, 1), out[1], max(nx, 1), x.shape[1]))
        if not ny or not nx:  # a region without any length
            value = value * 0
        value = (F.max if largest else F.mean)(value, axis=(1, 3))
        found.append(F.transpose(value, (2, 0, 1)))
    if not found:
        return like(x, np.zeros((0, x.shape[1], *out), host(x).dtype))
    return F.stack(found)


@plain
def _deform_conv(node: Any, x: Any, W: Any, offset: Any, b: Any = None, mask: Any = None) -> Any:
    n, d = x.shape[0], x.ndim - 2
    groups, moved = node.get("group", 1), node.get("offset_group", 1)
    stride, dilate = (node.get(name) or [1] * d for name in ("strides", "dilations"))
    before = (node.get("pads") or [0] * (2 * d))[:d]
    ksize, out = W.shape[2:], offset.shape[2:]
    taps, area = math.prod(ksize), math.prod(out)
    by = F.reshape(offset, (n * moved, taps, d, *out))
    places = []
    for i in range(d):
        tap = np.indices(ksize)[i].reshape((-1, *(1,) * d)) * dilate[i]
        start = np.indices(out)[i][None] * stride[i] - before[i]
        grid = (tap + start)[None].astype(host(x).dtype)
        places.append(by[:, :, i] + like(x, np.broadcast_to(grid, (n * moved, taps, *out))))
    images = F.reshape(x, (n * moved, x.shape[1] // moved, *x.shape[2:]))
    rows = np.arange(n * moved).reshape((-1, 1, *(1,) * d))
    found = sampled(images, rows, places, [_Border("zeros", s, True) for s in x.shape[2:]])
    if mask is not None:
        weight = F.expand_dims(F.reshape(mask, (n * moved, taps, *out)), -1)
        found = found * F.broadcast_to(weight, found.shape)
    columns = F.transpose(F.reshape(found, (n, moved, taps, area, -1)), (0, 1, 4, 2, 3))
    columns = F.reshape(columns, (n, groups, -1, area))
    filters = F.reshape(W, (1, groups, W.shape[0] // groups, -1))
    y = F.matmul(F.broadcast_to(filters, (n, *filters.shape[1:])), columns)
    y = F.reshape(y, (n, W.shape[0], *out))
    return y if b is None else y + F.reshape(b, (1, -1, *(1,) * d))


@plain
def _max_unpool(node: Any, x: Any, index: Any, shape: Any = None) -> Any:
    ksize = node.get("kernel_shape")
    stride, pads = node.get("strides") or [1] * len(ksize), node.get("pads") or [0] * 2 * len(ksize)
    size = [
        (n - 1) * s - p - q + k
        for n, s, p, q, k in zip(x.shape[2:], stride, pads, pads[len(ksize) :], ksize, strict=False)
    ]
    whole = sized((*x.shape[:2], *size))
    places = host(index).reshape(-1).astype("int64")
    if places.size and not 0 <= places.min() <= places.max() < math.prod(whole):
        raise Refused(f"expected places in {whole}, got others")
    empty = like(x, np.zeros(math.prod(whole), host(x).dtype))
    y = F.reshape(F.scatter_add(empty, like(x, places), F.reshape(x, (-1,))), whole)
    for axis, n in enumerate(sized(ints(shape)) if shape is not None else ()):
        y = padded(y, axis, 0, n - y.shape[axis])
    return y


OPERATORS: dict[str, Any] = {
    "AffineGrid": _affine_grid,
    "DeformConv": _deform_conv,
    "GridSample": _grid_sample,
    "MaxUnpool": _max_unpool,
    "RoiAlign": _roi_align,
}
