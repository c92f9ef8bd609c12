"""Activations whose formulas take several passes, by PyTorch's functions of one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten
_LINEAR = 40.0
"""Beyond this, log(1 + exp(z)) is z in float64 too."""


def clipped_relu(f: Any, xp: Any, x: Tensor) -> Any:
    """min(max(x, 0), z)."""
    return torch.clamp(x, 0.0, f.z)


def clipped_relu_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """The gradient strictly between the ends."""
    return (_aten.hardtanh_backward(g, f._sources[0].data, 0.0, f.z),)


def elu(f: Any, xp: Any, x: Tensor) -> Any:
    """x, or alpha (exp(x) - 1)."""
    return _aten.elu(x, f.alpha, 1.0, 1.0)


def elu_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g, or g alpha exp(x)."""
    return (_aten.elu_backward(g, f.alpha, 1.0, 1.0, False, f._sources[0].data),)


def gelu(f: Any, xp: Any, x: Tensor) -> Any:
    """Computes x P, P the probability of a normal number below x."""
    return _aten.gelu(x)


def gelu_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g (P + x p), p the density."""
    return (_aten.gelu_backward(g, f._sources[0].data),)


def hard_sigmoid(f: Any, xp: Any, x: Tensor) -> Any:
    """0.2 x + 0.5, clipped to [0, 1]."""
    return (x * 0.2).add_(0.5).clamp_(0.0, 1.0)


def hard_sigmoid_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes 0.2 g between the ends."""
    return (_aten.hardtanh_backward(g * 0.2, f._sources[0].data, -2.5, 2.5),)


def leaky_relu(f: Any, xp: Any, x: Tensor) -> Any:
    """x, or slope x."""
    return _aten.leaky_relu(x, f.slope)


def leaky_relu_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g, or slope g."""
    return (_aten.leaky_relu_backward(g, f._sources[0].data, f.slope, False),)


def silu(f: Any, xp: Any, x: Tensor) -> Any:
    """Computes x / (1 + exp(-x))."""
    return _aten.silu(x)


def silu_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g s (1 + x (1 - s)), s the sigmoid."""
    return (_aten.silu_backward(g, f._sources[0].data),)


def softplus(f: Any, xp: Any, x: Tensor) -> Any:
    """log(1 + exp(beta x)) / beta."""
    return _aten.softplus(x, f.beta, _LINEAR) if f.beta else NotImplemented


def softplus_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Computes g times the sigmoid of beta x."""
    return (_aten.softplus_backward(g, f._sources[0].data, f.beta, _LINEAR),)
