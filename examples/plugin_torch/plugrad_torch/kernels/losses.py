"""Cross entropies, in as few passes as PyTorch's own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def softmax_cross_entropy(f: Any, xp: Any, x: Tensor, t: Tensor) -> Any:
    """The loss of scores (n, classes), each class counting as much as any other."""
    if x.ndim != 2 or f.class_weight is not None or 0 in x.shape:
        return NotImplemented
    t = t.long()  # PyTorch compares uint8 with 300 as with 44
    counted = t != f.ignore_label
    label = torch.where(counted, t, 0)
    if f.backend.outside(label, x.shape[1]):
        return NotImplemented  # the formula says which
    label = label[:, None]
    f.top = x.amax(1, keepdim=True)
    loss = -torch.log_softmax(x, 1).gather(1, label)
    f.log_total = loss + (x.gather(1, label) - f.top)
    w = counted.to(x.dtype)
    loss = torch.where(counted, loss[:, 0], 0)
    if f.reduce == "no":
        f.w = w
        return loss
    f.w = w / (w.sum().clamp_(min=1) if f.normalize else len(x))
    return torch.dot(loss, f.w)


def softmax_cross_entropy_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g w (softmax(x) - onehot(t)), and 0 of what is ignored, which may be NaN."""
    x, t = f._sources[0].data, f._sources[1].data
    if x.ndim != 2 or x.dtype is not g.dtype or 0 in x.shape:
        return NotImplemented
    share = torch.softmax(x, 1)
    t = t.long()
    inside = (t >= 0) & (t < x.shape[1])
    label = torch.where(inside, t, 0)[:, None]
    share.scatter_add_(1, label, -inside[:, None].to(x.dtype))
    share.mul_((g * f.w)[:, None])
    return _without(share, t == f.ignore_label), None


def sigmoid_cross_entropy(f: Any, xp: Any, x: Tensor, t: Tensor) -> Any:
    """log(1 + exp(-x)) of the label 1, log(1 + exp(x)) of 0; what is labelled -1 counts nothing."""
    if f.backend.outside(t.long() + 1, 3):
        return NotImplemented  # the formula says which
    loss = torch.nn.functional.softplus(x * (1 - 2 * t.to(x.dtype)), threshold=40.0)
    loss, count = _counted(f, loss, t)
    return loss if f.reduce == "no" else loss.sum() / count


def sigmoid_cross_entropy_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g w (sigmoid(x) - t)."""
    x, t = f._sources[0].data, f._sources[1].data
    error, count = _counted(f, torch.sigmoid(x).sub_(t.to(x.dtype)), t)
    return error.mul_(g if f.reduce == "no" else g / count), None


def _counted(f: Any, values: Tensor, t: Tensor) -> tuple[Tensor, Any]:
    """The values, 0 where the label is -1, and what their sum is divided by for the mean."""
    count: Any = t.numel()
    if t.device.type != "cpu" or (count and int(t.min()) < 0):
        ignored = t == -1
        count = count - ignored.sum()
        values = values.masked_fill_(ignored, 0.0)
    count = count if f.normalize else len(t) if t.ndim else 1
    return values, count.clamp_(min=1) if isinstance(count, Tensor) else max(count, 1)


def _without(rows: Tensor, ignored: Tensor) -> Tensor:
    """The rows with zeros for some; by their numbers on a CPU, where masks of all are slow."""
    if rows.device.type != "cpu":
        return rows.masked_fill_(ignored[:, None], 0.0)
    return rows.index_fill_(0, ignored.nonzero()[:, 0], 0.0)
