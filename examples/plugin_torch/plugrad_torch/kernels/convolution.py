"""Convolution and its adjoints, by PyTorch's (oneDNN on a CPU, cuDNN on a GPU)."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from core.arrays.windows import per_axis

_backward = torch.ops.aten.convolution_backward.default


@cache
def _laid(size: Any, ksize: Any, stride: Any, pad: Any, dilate: Any) -> Any:
    """Stride, padding and dilation of each axis; None where PyTorch has no such windows."""
    n = len(size)
    if not 0 < n < 4 or 0 in size:
        return None
    steps = tuple([per_axis(value, n, "convolution") for value in (stride, pad, dilate)])
    spans = [d * (k - 1) + 1 - 2 * p for k, p, d in zip(ksize, *steps[1:], strict=True)]
    return steps if all([m >= span for m, span in zip(size, spans, strict=True)]) else None


def _steps(f: Any, x: Tensor, W: Tensor, image: Any = None) -> Any:
    """What `_laid` gives for windows on `image`, x itself by default; None where it does not suit.

    PyTorch has no windows beyond the padding, and computes with one dtype.
    """
    if f.cover_all or x.dtype is not W.dtype or 0 in x.shape or 0 in W.shape:
        return None
    return _laid(image or x.shape[2:], W.shape[2:], f.stride, f.pad, f.dilate)


def convolution(f: Any, xp: Any, x: Tensor, W: Tensor, b: Any = None) -> Any:
    """The products of windows and filters."""
    steps = _steps(f, x, W)
    if steps is None or (b is not None and b.dtype is not x.dtype):
        return NotImplemented
    return torch.convolution(x, W, b, *steps, False, (0,) * len(steps[0]), f.groups)


def convolution_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """All three gradients by one call."""
    sources = f._sources
    x, W = _or_like(sources[0], g), _or_like(sources[1], g)
    steps = _steps(f, x, W)
    if steps is None or g.dtype is not x.dtype:
        return NotImplemented
    none = [0] * len(steps[0])
    mask = _mask(needs_grad)
    return _backward(g, x, W, [W.shape[0]], *steps, False, none, f.groups, mask)[: len(sources)]


def deconvolution(f: Any, xp: Any, x: Tensor, W: Tensor, b: Any = None) -> Any:
    """Each value spread over a window."""
    steps, extra = _spread(f, x, W)
    if steps is None or (b is not None and b.dtype is not x.dtype):
        return NotImplemented
    return torch.convolution(x, W, b, *steps, True, extra, f.groups)


def deconvolution_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """All three gradients by one call."""
    sources = f._sources
    x, W = _or_like(sources[0], g), _or_like(sources[1], g)
    steps, extra = _spread(f, x, W)
    if steps is None or g.dtype is not x.dtype:
        return NotImplemented
    mask = _mask(needs_grad)
    return _backward(g, x, W, [g.shape[1]], *steps, True, extra, f.groups, mask)[: len(sources)]


def filter_gradient(f: Any, xp: Any, x: Tensor, y: Tensor) -> Any:
    """The gradient of the filters alone."""
    W = _nothing(y, (y.shape[1], x.shape[1] // f.groups, *f.ksize))
    steps = _steps(f, x, W)
    if steps is None or 0 in y.shape:
        return NotImplemented
    none, mask = [0] * len(steps[0]), [False, True, False]
    return _backward(y, x, W, None, *steps, False, none, f.groups, mask)[1]


def _spread(f: Any, x: Tensor, W: Tensor) -> tuple[Any, Any]:
    """The steps, and what is added behind each axis: less than a stride; None for others."""
    size = f.spread(x.shape[2:], W.shape[2:])
    steps = _steps(f, x, W, size)
    if steps is None:
        return None, None
    places = zip(size, x.shape[2:], W.shape[2:], *steps, strict=True)
    extra = [n - ((m - 1) * s - 2 * p + d * (k - 1) + 1) for n, m, k, s, p, d in places]
    fits = [0 <= e < max(s, d) for e, s, d in zip(extra, steps[0], steps[2], strict=True)]
    return (steps, extra) if all(fits) else (None, None)


def _mask(needs_grad: int) -> list[bool]:
    return [bool(needs_grad >> i & 1) for i in range(3)]


def _or_like(source: Any, g: Tensor) -> Tensor:
    """The array of an input; where it was not kept, nothing of its shape."""
    return _nothing(g, source.spec.shape) if source.data is None else source.data


def _nothing(like: Tensor, shape: Any) -> Tensor:
    return like.new_zeros(()).expand(shape)
