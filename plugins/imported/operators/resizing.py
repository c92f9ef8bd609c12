"""Images of another size, by one matrix for each axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import host, ints, is_float, like, plain, sized, xp_of


def _places(mode: str, out: int, n: int, scale: Any, roi: Any) -> Any:
    """Where the elements of the result lie along the input, in the dtype of the scale."""
    i = np.arange(out, dtype=scale.dtype)
    if mode == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        adjusted = out / (scale * n)
        return n / 2 * (1 - adjusted) + (i + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if out > 1 else np.zeros(1)
    if mode == "align_corners":
        last = scale * n - 1
        return i * (n - 1) / last if out > 1 else np.zeros(1)
    if mode == "asymmetric":
        return i / scale
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if out == 1:
            return np.full(1, 0.5 * (start + end) * (n - 1))
        return start * (n - 1) + i * (end - start) * (n - 1) / (out - 1)
    raise NotImplementedError(f"coordinates of {mode}")


def _nearest(x: Any, how: str) -> Any:
    x = x.astype("d")  # in which what is added is not rounded
    if how == "round_prefer_floor":
        return np.ceil(x - 0.5)
    if how == "round_prefer_ceil":
        return np.floor(x + 0.5)
    return np.floor(x) if how == "floor" else np.ceil(x)


def _cubic(t: Any, a: float) -> Any:
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def _linear(t: Any) -> Any:
    return np.maximum(1 - np.abs(t), 0.0)


def _matrix(node: Any, out: int, n: int, scale: float, roi: Any) -> tuple[Any, Any]:
    """The weights (out, n), and which results lie outside of the input."""
    mode, old = node.get("mode", "nearest"), _is_old(node)
    where = "asymmetric" if old else node.get("coordinate_transformation_mode", "half_pixel")
    # The nearest is decided in the scales' own float32, in which 4 / (4 / 3) is 3, as elsewhere.
    kind = np.float32 if mode == "nearest" else np.float64
    x = _places(where, out, n, kind(scale), roi)
    outside = (x < 0) | (x > n - 1) if where == "tf_crop_and_resize" else np.zeros(out, bool)
    if mode == "nearest":
        how = "floor" if old else node.get("nearest_mode", "round_prefer_floor")
        at = np.clip(_nearest(x, how), 0, n - 1).astype(int)
        return np.eye(n)[at], outside
    shrink = min(scale, 1.0) if node.get("antialias", 0) else 1.0
    reach = math.ceil((2 if mode == "cubic" else 1) / shrink) + 1
    first = np.floor(x).astype(int) - reach
    weights = np.zeros((out, n))
    for k in range(2 * reach + 2):
        at = first + k
        t = (at - x) * shrink
        w = _cubic(t, node.get("cubic_coeff_a", -0.75)) if mode == "cubic" else _linear(t)
        if node.get("exclude_outside", 0):
            w = np.where((at >= 0) & (at < n), w, 0.0)
        np.add.at(weights, (np.arange(out), np.clip(at, 0, n - 1)), w)
    return weights / weights.sum(axis=1, keepdims=True), outside


def _is_old(node: Any) -> bool:
    """Whether a node has nothing but scales, and pixels where images begin."""
    return bool(node.op == "Upsample" or node.opset < 11)


def _asked(
    node: Any, lengths: list[int], scales: Any = None, sizes: Any = None
) -> tuple[list[int], list[float]]:
    """Lengths of the axes of the result, and what they are multiplied by."""
    if scales is not None and scales.size:
        return _scaled(lengths, host(scales).reshape(-1).tolist())
    if sizes is None:
        return _scaled(lengths, node.get("scales"))
    asked = ints(sizes)
    ratios = [out / n for out, n in zip(asked, lengths, strict=True)]
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return asked, ratios
    one = min(ratios) if policy == "not_larger" else max(ratios)
    return [math.floor(one * n + 0.5) for n in lengths], [one] * len(lengths)


def _scaled(lengths: list[int], scales: list[float]) -> tuple[list[int], list[float]]:
    # in the scales' own float32, in which 3 * (5 / 3) is 5
    products = [np.float32(n) * np.float32(s) for n, s in zip(lengths, scales, strict=True)]
    return [math.floor(each) for each in products], [float(s) for s in scales]


@plain
def _resize(node: Any, x: Any, *more: Any) -> Any:
    roi, *how = (None, *more) if _is_old(node) else (*more, None)
    axes = [a % x.ndim for a in node.get("axes", range(x.ndim))]
    asked, ratios = _asked(node, [x.shape[a] for a in axes], *how[:2])
    whole = dict(enumerate(x.shape)) | dict(zip(axes, asked, strict=True))
    sized([*whole.values()])
    ends = [None] * len(axes) if roi is None or not roi.size else host(roi).reshape(2, -1).T
    dtype = host(x).dtype
    outer = np.zeros((), bool)
    y = x if is_float(x) else like(x, host(x).astype("d"))
    for axis, out, ratio, within in zip(axes, asked, ratios, ends, strict=True):
        if ratio == 1 and out == x.shape[axis] and within is None:
            continue
        weights, outside = _matrix(node, out, x.shape[axis], ratio, within)
        y = F.tensordot(y, like(x, weights.astype(host(y).dtype)), axes=((axis,), (1,)))
        y = F.moveaxis(y, -1, axis)
        outer = outer | outside.reshape([out if a == axis else 1 for a in range(x.ndim)])
    if outer.any():
        filled = np.asarray(node.get("extrapolation_value", 0.0), host(y).dtype)
        y = xp_of(y).where(like(x, np.broadcast_to(outer, y.shape)), like(x, filled), y)
    return y if is_float(x) else like(x, host(y).astype(dtype))


OPERATORS: dict[str, Any] = {"Resize": _resize, "Upsample": _resize}
