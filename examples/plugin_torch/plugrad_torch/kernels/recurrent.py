"""Long short-term memory: gates together, and PyTorch's own gradients of their functions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_of_sigmoid = torch.ops.aten.sigmoid_backward.default
_of_tanh = torch.ops.aten.tanh_backward.default


def lstm(f: Any, xp: Any, c_prev: Tensor, x: Tensor) -> Any:
    """The step of a batch that does not shrink."""
    n, columns = x.shape[:2]
    if x.ndim != 2 or c_prev.shape != (n, columns // 4) or c_prev.dtype is not x.dtype:
        return NotImplemented
    gates = x.reshape(n, columns // 4, 4).permute(2, 0, 1)
    gates = gates.clone(memory_format=torch.contiguous_format)  # which contiguous() need not copy
    a = gates[0].tanh_()
    i, remember, o = gates[1:].sigmoid_()
    c = torch.addcmul(remember * c_prev, a, i)
    f.a, f.i, f.f, f.o = a, i, remember, o
    return c, o * torch.tanh(c)


def lstm_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    c_prev, c = f._sources[0].data, f.data[0]
    if c_prev.shape != f.a.shape or c.ndim != 2:
        return NotImplemented
    gc, gh = g
    gates = c.new_empty(*c.shape, 4)
    if gh is None:
        gates[..., 3] = 0
    else:
        squashed = torch.tanh(c)
        through = _of_tanh(gh * f.o, squashed)
        gc = through if gc is None else gc + through
        gates[..., 3] = _of_sigmoid(gh * squashed, f.o)
    gates[..., 0] = _of_tanh(gc * f.i, f.a)
    gates[..., 1] = _of_sigmoid(gc * f.a, f.i)
    gates[..., 2] = _of_sigmoid(gc * c_prev, f.f)
    return gc * f.f, gates.view(len(c), -1)
