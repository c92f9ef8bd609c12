"""Attention by PyTorch's flash attention: block by block, no matrix of weights is made."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_cpu = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_cpu_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def _suits(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether it is on a CPU, (batch, heads, places, features), and nothing broadcasts."""
    return (
        query.device.type == "cpu"
        and query.ndim == key.ndim == value.ndim == 4
        and query.shape[:2] == key.shape[:2] == value.shape[:2]
        and query.shape[3] == value.shape[3]
        and 0 not in query.shape
        and 0 not in key.shape
    )


def attention(f: Any, xp: Any, query: Tensor, key: Tensor, value: Tensor) -> Any:
    """The weighted means, and the logarithms of what the weights were divided by."""
    if not _suits(query, key, value):
        return NotImplemented
    y, totals = _cpu(query, key, value, 0.0, f.is_causal, scale=f.scale)
    f.log_total = totals[..., None].to(query.dtype)
    return y


def attention_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """All three gradients."""
    query, key, value = [source.data for source in f._sources]
    if not _suits(query, key, value):
        return NotImplemented
    y, totals = _cpu(query, key, value, 0.0, f.is_causal, scale=f.scale)
    return _cpu_backward(g, query, key, value, y, totals, 0.0, f.is_causal, scale=f.scale)
