"""Normalization by PyTorch's."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor

_batch_backward = torch.ops.aten.native_batch_norm_backward.default
_layer_backward = torch.ops.aten.native_layer_norm_backward.default
_group_backward = torch.ops.aten.native_group_norm_backward.default


def _along_channels(f: Any, x: Tensor, *others: Tensor) -> bool:
    """Whether statistics are taken over all axes but the second, and all is of one dtype."""
    if x.ndim < 2 or 0 in x.shape:
        return False
    if f.axis is not None and tuple(f.axis) != (0, *range(2, x.ndim)):
        return False
    return all([each.ndim == 1 and each.dtype is x.dtype for each in others])


def _mask(needs_grad: int) -> list[bool]:
    return [bool(needs_grad >> i & 1) for i in range(3)]


def batch_normalization(f: Any, xp: Any, x: Tensor, gamma: Tensor, beta: Tensor) -> Any:
    """The normalized batch, its mean and variance."""
    if not _along_channels(f, x, gamma, beta):
        return NotImplemented
    y, mean, inverse = torch.native_batch_norm(x, gamma, beta, None, None, True, 0.0, f.eps)
    return y, mean, inverse.pow(-2).sub_(f.eps).clamp_(min=0.0)


def batch_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """All three gradients, where none comes through the statistics."""
    x, gamma = f._sources[0].data, f._sources[1].data
    if g[0] is None or g[1] is not None or g[2] is not None:
        return NotImplemented
    if not _along_channels(f, x, gamma):
        return NotImplemented
    _, mean, var = f.data
    inverse = (var + f.eps).rsqrt_()
    scale = gamma.contiguous()  # as PyTorch takes it to be, whatever its strides are
    return _batch_backward(
        g[0], x, scale, None, None, mean, inverse, True, f.eps, _mask(needs_grad)
    )


def fixed_batch_normalization(
    f: Any, xp: Any, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, var: Tensor
) -> Any:
    """The batch, normalized by given statistics."""
    if not _along_channels(f, x, gamma, beta, mean, var):
        return NotImplemented
    return torch.batch_norm(x, gamma, beta, mean, var, False, 0.0, f.eps, False)


def layer_normalization(f: Any, xp: Any, x: Tensor, gamma: Tensor, beta: Tensor) -> Any:
    """Each example, normalized over its last axes."""
    if not _last(f, x) or gamma.dtype is not x.dtype or beta.dtype is not x.dtype:
        return NotImplemented
    y, f.mean, f.scale = torch.native_layer_norm(x, gamma.shape, gamma, beta, f.eps)
    return y


def layer_normalization_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """All three gradients."""
    x, gamma = f._sources[0].data, f._sources[1].data
    if not _last(f, x) or gamma.dtype is not x.dtype:
        return NotImplemented
    return _layer_backward(g, x, gamma.shape, f.mean, f.scale, gamma, gamma, _mask(needs_grad))


def _last(f: Any, x: Tensor) -> bool:
    return tuple(f.axis) == tuple(range(x.ndim - len(f.axis), x.ndim)) and 0 not in x.shape


def group_normalization(f: Any, xp: Any, x: Tensor, gamma: Tensor, beta: Tensor) -> Any:
    """Each example, normalized over groups of channels."""
    if 0 in x.shape or gamma.dtype is not x.dtype or beta.dtype is not x.dtype:
        return NotImplemented
    n, c, *places = x.shape
    y, mean, scale = torch.native_group_norm(
        x.contiguous(), gamma.contiguous(), beta.contiguous(), n, c, prod(places), f.groups, f.eps
    )
    f.mean, f.scale = mean[:, :, None], scale[:, :, None]
    return y


def group_normalization_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """All three gradients."""
    x, gamma = f._sources[0].data, f._sources[1].data
    if 0 in x.shape or gamma.dtype is not x.dtype:
        return NotImplemented
    n, c, *places = x.shape
    return _group_backward(
        g.contiguous(),
        x.contiguous(),
        f.mean[:, :, 0],
        f.scale[:, :, 0],
        gamma.contiguous(),
        n,
        c,
        prod(places),
        f.groups,
        _mask(needs_grad),
    )
