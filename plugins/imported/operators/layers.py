"""Convolutions, pooling, normalizations, attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

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
)


def _steps(node: Any, n: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Strides and dilations of each axis."""
    return tuple(node.get("strides") or (1,) * n), tuple(node.get("dilations") or (1,) * n)


def _halves(pads: Any, n: int) -> tuple[list[int], list[int]]:
    """What is added before each axis, and after."""
    found = list(pads or (0,) * (2 * n))
    return found[:n], found[n:]


def _pads(
    node: Any, spatial: Any, ksize: Any, stride: Any, dilate: Any
) -> tuple[list[int], list[int]]:
    """What is added before and after each axis."""
    auto = node.get("auto_pad", "NOTSET")
    if auto not in _SAME:
        return _halves(node.get("pads") if auto == "NOTSET" else None, len(spatial))
    total = [
        max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        for size, k, s, d in zip(spatial, ksize, stride, dilate, strict=True)
    ]
    before = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in total]
    return before, [t - p for t, p in zip(total, before, strict=True)]


_SAME = ("SAME_UPPER", "SAME_LOWER")
"""Padding by which there are as many windows as strides, an odd place behind or before."""


def _windowed(x: Any, ksize: Any, before: Any, after: Any) -> None:
    """Refuse padding, and windows over it, of hostile sizes."""
    if min([*before, *after], default=0) < 0:
        raise Refused(f"expected padding of at least 0, got {[*before, *after]}")
    whole = [n + b + a for n, b, a in zip(x.shape[2:], before, after, strict=True)]
    sized((*x.shape[:2], *whole))
    if any([not 0 < k <= n for k, n in zip(ksize, whole, strict=True)]) and x.size:
        raise Refused(f"expected windows within the padded input {whole}, got {list(ksize)}")


def _padded(x: Any, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Any:
    """The input with so much before and after each axis but the first two."""
    if not any(map(any, widths)):
        return x
    return F.pad(x, [(0, 0), (0, 0), *widths], "constant", constant_values=value)


@plain
def _conv(node: Any, x: Any, W: Any, b: Any = None) -> Any:
    stride, dilate = _steps(node, x.ndim - 2)
    before, after = _pads(node, x.shape[2:], W.shape[2:], stride, dilate)
    _windowed(x, W.shape[2:], before, after)
    pad = tuple(before)
    if before != after:
        x, pad = _padded(x, [*zip(before, after, strict=True)]), (0,) * len(pad)
    return F.convolution_nd(x, W, b, stride, pad, dilate=dilate, groups=node.get("group", 1))


@plain
def _conv_transpose(node: Any, x: Any, W: Any, b: Any = None) -> Any:
    n = x.ndim - 2
    stride, dilate = _steps(node, n)
    more = list(node.get("output_padding") or (0,) * n)
    reach = [
        s * (size - 1) + o + (k - 1) * d + 1
        for size, s, k, d, o in zip(x.shape[2:], stride, W.shape[2:], dilate, more, strict=True)
    ]
    sized((*x.shape[:1], W.shape[1], *reach))
    cut = [*zip(reach, *_cut(node, x.shape[2:], stride, reach), strict=True)]
    group = node.get("group", 1)
    sized((len(x), W.shape[1] * group, *[r - p - q for r, p, q in cut]))
    beyond = [(max(-p, 0), max(o - q, 0)) for o, (_, p, q) in zip(more, cut, strict=True)]
    alone = b is not None and any(map(any, beyond))
    y = F.deconvolution_nd(x, W, None if alone else b, stride, 0, dilate=dilate, groups=group)
    y = _padded(y, beyond)
    if alone:  # where nothing was spread the bias stands by itself
        y = y + F.reshape(b, (1, -1, *(1,) * n))
    return y[(..., *[slice(max(p, 0), r - q + max(-p, 0)) for r, p, q in cut])]


def _cut(node: Any, spatial: Any, stride: Any, reach: list[int]) -> tuple[list[int], list[int]]:
    """What is cut off before and after each axis; of what is below 0, so much is added."""
    asked, auto = node.get("output_shape"), node.get("auto_pad", "NOTSET")
    if asked is None and auto in _SAME:
        asked = [size * s for size, s in zip(spatial, stride, strict=True)]
    if asked is None:
        return _halves(node.get("pads"), len(reach))
    total = [r - a for r, a in zip(reach, asked[-len(reach) :], strict=True)]
    least = [max(t, 0) for t in total]
    before = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in least]
    return before, [t - p for t, p in zip(total, before, strict=True)]


class _Windows(NamedTuple):
    """Windows over an input; `after` may be more than `given`, so that the last one is whole."""

    ksize: tuple[int, ...]
    stride: tuple[int, ...]
    dilate: tuple[int, ...]
    before: list[int]
    after: list[int]
    given: list[int]

    @classmethod
    def of(cls, node: Any, x: Any) -> _Windows:
        """The windows of a node."""
        ksize = tuple(node.get("kernel_shape"))
        stride, dilate = _steps(node, x.ndim - 2)
        before, given = _pads(node, x.shape[2:], ksize, stride, dilate)
        _windowed(x, ksize, before, given)
        after = list(given)
        for i, size in enumerate(x.shape[2:] if node.get("ceil_mode", 0) else ()):
            reach = (ksize[i] - 1) * dilate[i] + 1
            count = math.ceil((size + before[i] + given[i] - reach) / stride[i]) + 1
            if (count - 1) * stride[i] >= size + before[i]:
                count -= 1  # a window may not begin in the padding behind
            after[i] = max(given[i], (count - 1) * stride[i] + reach - size - before[i])
        return cls(ksize, stride, dilate, before, after, given)

    def parts(self, x: Any, value: float) -> Any:
        """The elements of windows by place: a list of (n, c, *out)."""
        padded = _padded(x, [*zip(self.before, self.after, strict=True)], value)
        out = _counts(padded.shape[2:], self.ksize, self.stride, self.dilate)
        sized((*self.ksize, *x.shape[:2], *out))
        return [padded[each] for each in _places(self.ksize, out, self.stride, self.dilate)]


def _counts(size: Any, ksize: Any, stride: Any, dilate: Any) -> list[int]:
    """How many windows there are along each axis."""
    return [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, s, d in zip(size, ksize, stride, dilate, strict=True)
    ]


def _places(ksize: Any, out: Any, stride: Any, dilate: Any) -> Iterator[tuple[Any, ...]]:
    """For each place of a window, where it lies in the input for all windows."""
    for place in np.ndindex(*ksize):
        each = zip(place, dilate, out, stride, strict=True)
        yield (..., *[slice(i * d, i * d + (o - 1) * s + 1, s) for i, d, o, s in each])


@plain
def _max_pool(node: Any, x: Any) -> Any:
    windows = _Windows.of(node, x)
    if not is_float(x):
        a = host(x)
        parts = windows.parts(like(x, a.astype("d")), float(np.iinfo(a.dtype).min))
        return [like(x, host(F.max(F.stack(parts), axis=0)).astype(a.dtype)), None]
    y, numbers = _maxima(windows, x)
    return [y, like(x, _places_of(node, windows, x, numbers()))] if len(node.outputs) > 1 else y


def _maxima(windows: _Windows, x: Any) -> tuple[Any, Callable[[], Any]]:
    """The maxima, and what gives the number of each in its window: the first of equal ones."""
    ksize, stride, dilate, before, after, _ = windows
    if set(dilate) <= {1}:
        whole = [n + b + a for n, b, a in zip(x.shape[2:], before, after, strict=True)]
        # As many windows may fit, with as much padding behind as there is before, or more.
        inner: Any = (..., *map(slice, _counts(whole, ksize, stride, dilate)))
        x = _padded(x, [(0, max(a - b, 0)) for a, b in zip(after, before, strict=True)], -np.inf)
        y, found = F.max_pooling_nd(
            x, ksize, stride, tuple(before), cover_all=False, return_indices=True
        )
        return y[inner], lambda: np.asarray(x.backend.to_host(found))[inner]
    stacked = F.stack(windows.parts(x, -np.inf))
    y = F.max(stacked, axis=0)

    def numbers() -> Any:
        inside = windows.parts(like(x, np.ones((1, 1, *x.shape[2:]), "f")), 0.0)
        elements = host(stacked)
        alike = (elements == host(y)) | np.isnan(elements)
        return np.argmax(alike & (np.stack([*map(host, inside)]) > 0), axis=0)

    return y, numbers


def _places_of(node: Any, windows: _Windows, x: Any, numbers: Any) -> Any:
    """Where in the input the elements lie that have these numbers in windows, by one number."""
    size, out = x.shape[2:], numbers.shape[2:]
    along = zip(
        *(np.unravel_index(numbers, windows.ksize), np.indices(out, sparse=True)),
        *(windows.stride, windows.dilate, windows.before, size),
        strict=True,
    )
    at = [np.clip(o * s + i * d - b, 0, n - 1) for i, o, s, d, b, n in along]
    order: Any = "F" if node.get("storage_order", 0) else "C"
    planes = np.arange(math.prod(x.shape[:2])).reshape((*x.shape[:2], *(1,) * len(size)))
    found = np.ravel_multi_index(at, size, order=order) + planes * math.prod(size)
    return found.astype("int64")


@plain
def _average_pool(node: Any, x: Any) -> Any:
    windows = _Windows.of(node, x)
    total = sum(windows.parts(x, 0.0))
    ones = np.ones((1, 1, *x.shape[2:]), host(x).dtype)
    if node.get("count_include_pad", 0):
        before, given = windows.before, windows.given
        ones = np.pad(ones, [(0, 0), (0, 0), *zip(before, given, strict=True)], constant_values=1)
        more = [a - g for a, g in zip(windows.after, given, strict=True)]
        windows = windows._replace(before=[0] * len(before), after=more)
    return total / sum(windows.parts(like(x, ones), 0.0))


@plain
def _lp_pool(node: Any, x: Any) -> Any:
    p = float(node.get("p", 2))
    return sum(_Windows.of(node, x).parts(F.absolute(x) ** p, 0.0)) ** (1 / p)


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


def normalized(x: Any, axes: Any, eps: float) -> Any:
    """Of mean 0 and variance 1 along the axes; the mean, and 1 over the deviation."""
    mean = F.mean(x, axis=axes, keepdims=True)
    apart = x - mean
    inverse = 1 / F.sqrt(F.mean(apart * apart, axis=axes, keepdims=True) + eps)
    return apart * inverse, mean, inverse


@plain
def _instance_normalization(node: Any, x: Any, gamma: Any, beta: Any) -> Any:
    y, _, _ = normalized(x, tuple(range(2, x.ndim)), node.get("epsilon", 1e-5))
    g, b = _by_channel(x, gamma, beta)
    return y * g + b


@plain
def _layer_normalization(node: Any, x: Any, gamma: Any, beta: Any = None) -> Any:
    axis = node.get("axis", -1) % x.ndim
    y, mean, inverse = normalized(x, tuple(range(axis, x.ndim)), node.get("epsilon", 1e-5))
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
    y, _, _ = normalized(parts, (2,), node.get("epsilon", 1e-5))
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
    stride, dilate = _steps(node, len(size))
    before, after = _halves(node.get("pads"), len(size))
    whole = [s + p + q for s, p, q in zip(size, before, after, strict=True)]
    out = _counts(whole, ksize, stride, dilate)
    sized((*x.shape[:2], *whole))
    columns = F.reshape(x, (x.shape[0], -1, math.prod(ksize), *out))
    found = like(x, np.zeros((x.shape[0], columns.shape[1], *whole), host(x).dtype))
    for i, place in enumerate(_places(ksize, out, stride, dilate)):
        found = F.scatter_add(found, place, columns[:, :, i])
    return found[(..., *[slice(p, p + s) for p, s in zip(before, size, strict=True)])]


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
