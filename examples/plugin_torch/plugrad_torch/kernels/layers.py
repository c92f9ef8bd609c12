"""Layers of one or two calls, where PyTorch's own make fewer passes or fewer calls."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from plugrad_torch.indexing import part_of

_threshold = torch.ops.aten.threshold_backward.default
_of_sigmoid = torch.ops.aten.sigmoid_backward.default
_of_tanh = torch.ops.aten.tanh_backward.default
_of_softmax = torch.ops.aten._softmax_backward_data.default
_of_log_softmax = torch.ops.aten._log_softmax_backward_data.default


def relu(f: Any, xp: Any, x: Tensor) -> Any:
    """max(x, 0)."""
    return torch.relu(x)


def relu_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """The gradient where the output is positive."""
    return (_threshold(g, f.data, 0),)


def sigmoid(f: Any, xp: Any, x: Tensor) -> Any:
    """1 / (1 + exp(-x))."""
    return torch.sigmoid(x)


def sigmoid_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g y (1 - y)."""
    return (_of_sigmoid(g, f.data),)


def tanh_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g (1 - y y)."""
    return (_of_tanh(g, f.data),)


def tanh_share(f: Any, xp: Any, g: Tensor, y: Tensor) -> Any:
    """The same, as an operation of its own."""
    return _of_tanh(g, y) if g.dtype is y.dtype and g.shape == y.shape else NotImplemented


def softmax(f: Any, xp: Any, x: Tensor) -> Any:
    """Shares along an axis."""
    return torch.softmax(x, f.axis)


def softmax_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes y (g - sum g y)."""
    return (_of_softmax(g, f.data, f.axis, g.dtype),)


def log_softmax(f: Any, xp: Any, x: Tensor) -> Any:
    """Logarithms of shares along an axis."""
    return torch.log_softmax(x, f.axis)


def log_softmax_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g - exp(y) sum g."""
    return (_of_log_softmax(g, f.data, f.axis, g.dtype),)


def linear(f: Any, xp: Any, x: Tensor, W: Tensor, b: Any = None) -> Any:
    """Computes x W^T + b in one call."""
    if W.dtype is not x.dtype or (b is not None and b.dtype is not x.dtype):
        return NotImplemented
    return torch.nn.functional.linear(x, W, b)


def linear_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Two products and a sum."""
    sources = f._sources
    found: list[Any] = [None] * len(sources)
    x, W = sources[0].data, sources[1].data
    if any([each is not None and each.dtype is not g.dtype for each in (x, W)]):
        return NotImplemented
    if needs_grad & 1:
        found[0] = torch.mm(g, W)
    if needs_grad & 2:
        found[1] = torch.mm(g.t(), x)
    if needs_grad & 4:
        found[2] = torch.sum(g, 0)
    return tuple(found)


def get_item(f: Any, xp: Any, x: Tensor) -> Any:
    """x[slices], whose steps may be negative."""
    try:
        return part_of(x, f.slices)
    except IndexError:
        return NotImplemented  # the formula says what is wrong


def embed_id_gradient(f: Any, xp: Any, x: Tensor, g: Tensor) -> Any:
    """A table of zeros, to whose rows g is added."""
    if f.ignore_label is not None:
        return NotImplemented
    table = g.new_zeros(f.rows, g.shape[-1])
    return table.index_add_(0, x.reshape(-1).long(), g.reshape(x.numel(), g.shape[-1]))


def place_item(f: Any, xp: Any, x: Tensor, t: Tensor) -> Any:
    """Rows of zeros, with x where t says."""
    rows = x.new_zeros(len(x), f.length)
    return rows.scatter_(1, t.long()[:, None], x[:, None]) if rows.numel() else rows
