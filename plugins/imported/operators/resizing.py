"""Images of another size, by one matrix for each axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import host, ints, is_float, like, plain, sized


def _places(mode: str, out: int, n: int, scale: float, roi: Any) -> Any:
    """Where the elements of the result lie along the input."""
    i = np.arange(out, dtype="d")
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
    mode = node.get("mode", "nearest")
    where = node.get("coordinate_transformation_mode", "half_pixel")
    if node.op == "Upsample" or node.opset < 11:
        where = "asymmetric"
    x = _places(where, out, n, scale, roi)
    outside = (x < 0) | (x > n - 1) if where == "tf_crop_and_resize" else np.zeros(out, bool)
    if mode == "nearest":
        how = node.get("nearest_mode", "round_prefer_floor")
        if node.op == "Upsample" or node.opset < 11:
            how = "floor"
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


@plain
def _resize(node: Any, x: Any, *more: Any) -> Any:
    if node.op == "Upsample" or node.opset < 11:
        more = (None, *more)
    roi, scales, sizes = (*more, None, None, None)[:3]
    axes = [a % x.ndim for a in node.get("axes", range(x.ndim))]
    given = None if scales is None or not scales.size else host(scales).reshape(-1).tolist()
    if given is None and sizes is None:
        given = list(node.get("scales"))
    asked: list[int] = []
    ratios: list[float] = []
    if given is not None:
        ratios = [float(s) for s in given]
        # in the scales' own float32, in which 3 * (5 / 3) is 5
        products = [
            np.float32(x.shape[a]) * np.float32(s) for a, s in zip(axes, ratios, strict=True)
        ]
        asked = [math.floor(each) for each in products]
    else:
        asked = ints(sizes)
        ratios = [n / x.shape[a] for a, n in zip(axes, asked, strict=True)]
        policy = node.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            one = min(ratios) if policy == "not_larger" else max(ratios)
            ratios = [one] * len(axes)
            asked = [math.floor(one * x.shape[a] + 0.5) for a in axes]
    whole = list(x.shape)
    for axis, n in zip(axes, asked, strict=True):
        whole[axis] = n
    sized(whole)
    ends = None if roi is None or not roi.size else host(roi).reshape(2, -1)
    a = host(x)
    outer = np.zeros((), bool)
    y = x if is_float(x) else like(x, a.astype("d"))
    for i, (axis, out, ratio) in enumerate(zip(axes, asked, ratios, strict=True)):
        within = None if ends is None else ends[:, i]
        if ratio == 1 and out == x.shape[axis] and within is None:
            continue
        weights, outside = _matrix(node, out, x.shape[axis], ratio, within)
        y = F.tensordot(y, like(x, weights.astype(host(y).dtype)), axes=((axis,), (1,)))
        y = F.moveaxis(y, -1, axis)
        shape = [1] * x.ndim
        shape[axis] = out
        outer = outer | outside.reshape(shape)
    if outer.any():
        filled = node.get("extrapolation_value", 0.0)
        mask = np.broadcast_to(outer, y.shape)
        y = y.__array_namespace__().where(
            like(x, mask), like(x, np.asarray(filled, host(y).dtype)), y
        )
    return y if is_float(x) else like(x, host(y).astype(a.dtype))


OPERATORS: dict[str, Any] = {"Resize": _resize, "Upsample": _resize}
