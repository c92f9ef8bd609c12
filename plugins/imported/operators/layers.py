"""Convolutions, pooling, normalizations, attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import (
    Refused,
    host,
    ints,
    is_float,
    like,
    plain,
    sized,
    xp_of,
)


def _pads(
    node: Any, spatial: Any, ksize: Any, stride: Any, dilate: Any
) -> tuple[list[int], list[int]]:
    """What is added before and after each axis."""
    n = len(spatial)
    auto = node.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        before, after = [], []
        for size, k, s, d in zip(spatial, ksize, stride, dilate, strict=True):
            total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
            less = total // 2
            before.append(less if auto == "SAME_UPPER" else total - less)
            after.append(total - before[-1])
        return before, after
    pads = node.get("pads") if auto == "NOTSET" else None
    pads = [0] * (2 * n) if pads is None else list(pads)
    return pads[:n], pads[n:]


def _windowed(x: Any, ksize: Any, before: Any, after: Any) -> None:
    """Refuse padding, and windows over it, of hostile sizes."""
    whole = [n + b + a for n, b, a in zip(x.shape[2:], before, after, strict=True)]
    sized((*x.shape[:2], *whole))
    if any([not 0 < k <= n for k, n in zip(ksize, whole, strict=True)]) and x.size:
        raise Refused(f"expected windows within the padded input {whole}, got {list(ksize)}")


def _widened(x: Any, before: Any, after: Any, value: float) -> Any:
    """The input with what is added behind more than before put there; and the padding on both."""
    if list(before) == list(after):
        return x, tuple(before)
    widths = [(0, 0), (0, 0), *zip(before, after, strict=True)]
    return F.pad(x, widths, "constant", constant_values=value), (0,) * len(before)


@plain
def _conv(node: Any, x: Any, W: Any, b: Any = None) -> Any:
    n = x.ndim - 2
    stride = tuple(node.get("strides") or (1,) * n)
    dilate = tuple(node.get("dilations") or (1,) * n)
    before, after = _pads(node, x.shape[2:], W.shape[2:], stride, dilate)
    _windowed(x, W.shape[2:], before, after)
    x, pad = _widened(x, before, after, 0.0)
    more = {"dilate": dilate, "groups": node.get("group", 1)}
    return F.convolution_nd(x, W, b, stride, pad, **more)


@plain
def _conv_transpose(node: Any, x: Any, W: Any, b: Any = None) -> Any:
    n = x.ndim - 2
    stride = tuple(node.get("strides") or (1,) * n)
    dilate = tuple(node.get("dilations") or (1,) * n)
    more = list(node.get("output_padding") or (0,) * n)
    reach = [
        s * (size - 1) + o + (k - 1) * d + 1
        for size, s, k, d, o in zip(x.shape[2:], stride, W.shape[2:], dilate, more, strict=True)
    ]
    sized((*x.shape[:1], W.shape[1], *reach))
    asked = node.get("output_shape")
    auto = node.get("auto_pad", "NOTSET")
    if asked is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        asked = [size * s for size, s in zip(x.shape[2:], stride, strict=True)]
    if asked is not None:
        total = [r - a for r, a in zip(reach, asked[-n:], strict=True)]
        least = [max(t, 0) for t in total]
        before = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in least]
        after = [t - p for t, p in zip(total, before, strict=True)]
    else:
        pads = list(node.get("pads") or (0,) * (2 * n))
        before, after = pads[:n], pads[n:]
    full = F.deconvolution_nd(x, W, b, stride, 0, dilate=dilate, groups=node.get("group", 1))
    sized((*full.shape[:2], *[r - p - q for r, p, q in zip(reach, before, after, strict=True)]))
    widths = [(0, 0), (0, 0)]
    index: list[Any] = [slice(None), slice(None)]
    for r, p, q, size in zip(reach, before, after, full.shape[2:], strict=True):
        widths.append((max(-p, 0), max(r - size, 0) + max(-q, 0)))
        index.append(slice(max(p, 0), r + max(-p, 0) - max(q, 0) + max(-q, 0)))
    if any([w != (0, 0) for w in widths]):
        padded = F.pad(full, widths, "constant", constant_values=0.0)
        if b is not None:  # where nothing was spread the bias stands alone
            filled = F.reshape(b, (1, -1, *(1,) * n))
            inside = np.zeros(padded.shape, bool)
            inside[
                tuple([slice(a, s + a) for (a, _), s in zip(widths, full.shape, strict=True)])
            ] = 1
            padded = xp_of(x).where(like(x, inside), padded, filled)
        full = padded
    return full[tuple(index)]


def _window(node: Any, x: Any) -> Any:
    n = x.ndim - 2
    ksize = tuple(node.get("kernel_shape"))
    stride = tuple(node.get("strides") or (1,) * n)
    dilate = tuple(node.get("dilations") or (1,) * n)
    before, after = _pads(node, x.shape[2:], ksize, stride, dilate)
    _windowed(x, ksize, before, after)
    given = list(after)
    if node.get("ceil_mode", 0):
        for i, (size, k, s, d) in enumerate(zip(x.shape[2:], ksize, stride, dilate, strict=True)):
            reach = (k - 1) * d + 1
            count = math.ceil((size + before[i] + after[i] - reach) / s) + 1
            if (count - 1) * s >= size + before[i]:
                count -= 1  # a window may not begin in the padding behind
            after[i] = max(after[i], (count - 1) * s + reach - size - before[i])
    return ksize, stride, dilate, before, after, given


def _windows(
    x: Any, ksize: Any, stride: Any, dilate: Any, before: Any, after: Any, value: float
) -> Any:
    """The elements of windows by place: a list of (n, c, *out)."""
    widths = [(0, 0), (0, 0), *zip(before, after, strict=True)]
    padded = F.pad(x, widths, "constant", constant_values=value) if any(before) or any(after) else x
    out = [
        (size - (k - 1) * d - 1) // s + 1
        for size, k, s, d in zip(padded.shape[2:], ksize, stride, dilate, strict=True)
    ]
    sized((*ksize, *x.shape[:2], *out))
    found = []
    for place in np.ndindex(*ksize):
        index = [
            slice(i * d, i * d + (o - 1) * s + 1, s)
            for i, d, o, s in zip(place, dilate, out, stride, strict=True)
        ]
        found.append(padded[(slice(None), slice(None), *index)])
    return found


@plain
def _max_pool(node: Any, x: Any) -> Any:
    ksize, stride, dilate, before, after, _ = _window(node, x)
    a = host(x)
    low = -np.inf if is_float(x) else np.iinfo(a.dtype).min
    if not is_float(x):
        as_float = like(x, a.astype("d"))
        parts = _windows(as_float, ksize, stride, dilate, before, after, float(low))
        y = F.max(F.stack(parts), axis=0)
        return [like(x, host(y).astype(a.dtype)), None]
    parts = _windows(x, ksize, stride, dilate, before, after, low)
    stacked = F.stack(parts)
    y = F.max(stacked, axis=0)
    if len(node.outputs) < 2:
        return y
    numbers = np.arange(int(np.prod(a.shape[2:])), dtype="d").reshape((1, 1, *a.shape[2:]))
    if node.get("storage_order", 0):
        numbers = np.arange(numbers.size, dtype="d").reshape((1, 1, *a.shape[2:][::-1])).T
        numbers = numbers.reshape((1, 1, *a.shape[2:]))
    places = _windows(like(x, numbers), ksize, stride, dilate, before, after, 0.0)
    chosen = np.argmax(host(stacked), axis=0)
    found = np.take_along_axis(
        np.broadcast_to(np.stack([host(p) for p in places]), (len(places), *y.shape)),
        chosen[None],
        0,
    )[0]
    planes = np.arange(a.shape[0] * a.shape[1]).reshape((*a.shape[:2], *(1,) * (a.ndim - 2)))
    return [y, like(x, (found + planes * numbers.size).astype("int64"))]


@plain
def _average_pool(node: Any, x: Any) -> Any:
    ksize, stride, dilate, before, after, given = _window(node, x)
    total = sum(_windows(x, ksize, stride, dilate, before, after, 0.0))
    ones = np.ones((1, 1, *x.shape[2:]), host(x).dtype)
    if node.get("count_include_pad", 0):
        widths = [(0, 0), (0, 0), *zip(before, given, strict=True)]
        ones = np.pad(ones, widths, constant_values=1)
        before, after = [0] * len(before), [a - g for a, g in zip(after, given, strict=True)]
    counts = sum(_windows(like(x, ones), ksize, stride, dilate, before, after, 0.0))
    return total / counts


@plain
def _lp_pool(node: Any, x: Any) -> Any:
    ksize, stride, dilate, before, after, _ = _window(node, x)
    p = float(node.get("p", 2))
    parts = _windows(F.absolute(x) ** p, ksize, stride, dilate, before, after, 0.0)
    return sum(parts) ** (1 / p)


def _global(function: Any) -> Any:
    def operator(node: Any, x: Any) -> Any:
        return function(x, axis=tuple(range(2, x.ndim)), keepdims=True)

    return plain(operator)


@plain
def _global_lp_pool(node: Any, x: Any) -> Any:
    p = float(node.get("p", 2))
    total = F.sum(F.absolute(x) ** p, axis=tuple(range(2, x.ndim)), keepdims=True)
    return total ** (1 / p)


@plain
def _roi_pool(node: Any, x: Any, rois: Any) -> Any:
    height, width = node.get("pooled_shape")
    sized((len(host(rois)), x.shape[1], height, width))
    corners = np.floor(host(rois)[:, 1:] * node.get("spatial_scale", 1.0) + 0.5)
    rounded = np.concatenate([host(rois)[:, :1], corners], axis=1)
    return F.roi_pooling_2d(x, like(x, rounded.astype(host(x).dtype)), height, width, 1.0)


def _by_channel(x: Any, *arrays: Any) -> Any:
    return [F.reshape(a, (1, -1, *(1,) * (x.ndim - 2))) for a in arrays]


def _batch_normalization(
    run: Any, node: Any, values: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any
) -> Any:
    eps = node.get("epsilon", 1e-5)
    if not node.get("training_mode", 0):
        g, b, m, v = _by_channel(x, gamma, beta, mean, var)
        return (x - m) * (g / F.sqrt(v + eps)) + b
    axes = (0, *range(2, x.ndim))
    g, b = _by_channel(x, gamma, beta)
    own = F.mean(x, axis=axes, keepdims=True)
    apart = x - own
    spread = F.mean(apart * apart, axis=axes, keepdims=True)
    keep = node.get("momentum", 0.9)
    means = keep * mean + (1 - keep) * F.reshape(own, mean.shape)
    variances = keep * var + (1 - keep) * F.reshape(spread, var.shape)
    return [apart / F.sqrt(spread + eps) * g + b, means, variances]


def _normalized(x: Any, axes: Any, eps: float) -> Any:
    mean = F.mean(x, axis=axes, keepdims=True)
    apart = x - mean
    inverse = 1 / F.sqrt(F.mean(apart * apart, axis=axes, keepdims=True) + eps)
    return apart * inverse, mean, inverse


@plain
def _instance_normalization(node: Any, x: Any, gamma: Any, beta: Any) -> Any:
    y, _, _ = _normalized(x, tuple(range(2, x.ndim)), node.get("epsilon", 1e-5))
    g, b = _by_channel(x, gamma, beta)
    return y * g + b


@plain
def _layer_normalization(node: Any, x: Any, gamma: Any, beta: Any = None) -> Any:
    axis = node.get("axis", -1) % x.ndim
    y, mean, inverse = _normalized(x, tuple(range(axis, x.ndim)), node.get("epsilon", 1e-5))
    y = y * gamma
    return [y if beta is None else y + beta, mean, inverse]


@plain
def _rms_normalization(node: Any, x: Any, gamma: Any) -> Any:
    axis = node.get("axis", -1) % x.ndim
    square = F.mean(x * x, axis=tuple(range(axis, x.ndim)), keepdims=True)
    return x / F.sqrt(square + node.get("epsilon", 1e-5)) * gamma


@plain
def _group_normalization(node: Any, x: Any, gamma: Any, beta: Any) -> Any:
    groups = node.get("num_groups")
    parts = F.reshape(x, (x.shape[0], groups, -1))
    y, _, _ = _normalized(parts, (2,), node.get("epsilon", 1e-5))
    if gamma.shape[0] == groups and node.opset < 21:
        y = y * F.reshape(gamma, (1, -1, 1)) + F.reshape(beta, (1, -1, 1))
        return F.reshape(y, x.shape)
    g, b = _by_channel(x, gamma, beta)
    return F.reshape(y, x.shape) * g + b


@plain
def _mean_variance(node: Any, x: Any) -> Any:
    axes = tuple(node.get("axes", (0, 2, 3)))
    mean = F.mean(x, axis=axes, keepdims=True)
    apart = x - mean
    return apart / (F.sqrt(F.mean(apart * apart, axis=axes, keepdims=True)) + 1e-9)


@plain
def _lrn(node: Any, x: Any) -> Any:
    n = node.get("size")
    # a window wider than the channels holds them all
    before, after = (min(w, x.shape[1]) for w in ((n - 1) // 2, n // 2))
    widths = [(0, 0), (before, after), *[(0, 0)] * (x.ndim - 2)]
    squares = F.pad(x * x, widths, "constant", constant_values=0.0)
    total = sum([squares[:, i : i + x.shape[1]] for i in range(before + 1 + after)])
    scale = node.get("bias", 1.0) + node.get("alpha", 1e-4) / n * total
    return x / scale ** node.get("beta", 0.75)


@plain
def _col2im(node: Any, x: Any, image: Any, block: Any) -> Any:
    size, ksize = ints(image), ints(block)
    n = len(size)
    stride = tuple(node.get("strides") or (1,) * n)
    dilate = tuple(node.get("dilations") or (1,) * n)
    pads = list(node.get("pads") or (0,) * (2 * n))
    whole = [s + p + q for s, p, q in zip(size, pads[:n], pads[n:], strict=True)]
    out = [
        (w - (k - 1) * d - 1) // s + 1
        for w, k, s, d in zip(whole, ksize, stride, dilate, strict=True)
    ]
    sized((*x.shape[:2], *whole))
    columns = F.reshape(x, (x.shape[0], -1, int(np.prod(ksize)), *out))
    found = like(x, np.zeros((x.shape[0], columns.shape[1], *whole), host(x).dtype))
    for i, place in enumerate(np.ndindex(*ksize)):
        index = tuple(
            [
                slice(p * d, p * d + (o - 1) * s + 1, s)
                for p, d, o, s in zip(place, dilate, out, stride, strict=True)
            ]
        )
        found = F.scatter_add(found, (slice(None), slice(None), *index), columns[:, :, i])
    cut = [slice(p, p + s) for p, s in zip(pads[:n], size, strict=True)]
    return found[(slice(None), slice(None), *cut)]


OPERATORS: dict[str, Any] = {
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_normalization,
    "Col2Im": _col2im,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "GlobalAveragePool": _global(F.mean),
    "GlobalMaxPool": _global(F.max),
    "GlobalLpPool": _global_lp_pool,
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance_normalization,
    "LRN": _lrn,
    "LayerNormalization": _layer_normalization,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxRoiPool": _roi_pool,
    "MeanVarianceNormalization": _mean_variance,
    "RMSNormalization": _rms_normalization,
}
