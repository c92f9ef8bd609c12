"""Operators of com.microsoft, which optimizers of onnxruntime put in the place of several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators import layers, products
from plugins.imported.operators.common import Refused, host, like, plain, xp_of
from plugins.imported.operators.elementwise import OPERATORS as ELEMENTWISE
from plugins.imported.operators.layers import normalized

_MASKED = -10000.0
"""What is added to scores of masked places, where the model says nothing else."""


@plain
def _gelu(node: Any, x: Any, bias: Any = None) -> Any:
    return F.gelu(x if bias is None else x + bias)


@plain
def _fast_gelu(node: Any, x: Any, bias: Any = None) -> Any:
    x = x if bias is None else x + bias
    return 0.5 * x * (1 + F.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@plain
def _quick_gelu(node: Any, x: Any) -> Any:
    return x * F.sigmoid(node.get("alpha", 1.702) * x)


@plain
def _matmul(node: Any, a: Any, b: Any) -> Any:
    a, b = _turned(node, a, "A"), _turned(node, b, "B")
    alpha = node.get("alpha", 1.0)
    y = xp_of(a).matmul(a, b)
    return y if alpha == 1 else alpha * y


def _turned(node: Any, x: Any, name: str) -> Any:
    """A factor with its axes as a product takes them: batches first, rows before columns."""
    if node.get(f"transBatch{name}", 0) and x.ndim > 2:
        x = F.moveaxis(x, 0, -2)
    return F.swapaxes(x, -1, -2) if node.get(f"trans{name}", 0) and x.ndim > 1 else x


def _activated(run: Any, node: Any, values: Any, y: Any, params: Any) -> Any:
    """The function that a layer has been fused with, of its parameters in their order."""
    name = node.get("activation", "")
    if not name:
        return y
    names = {"LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta")}.get(name, ())
    if name == "Clip":
        return F.clip(y, *params)
    if name not in ("Relu", "Tanh", "Sigmoid", *("LeakyRelu", "HardSigmoid")):
        raise NotImplementedError(f"the activation {name}")
    own = node._replace(settings=dict(zip(names, params, strict=False)))
    return ELEMENTWISE[name](run, own, values, y)


def _conv(run: Any, node: Any, values: Any, x: Any, W: Any, b: Any = None, z: Any = None) -> Any:
    y = layers.OPERATORS["Conv"](run, node, values, x, W, b)
    y = y if z is None else y + z
    return _activated(run, node, values, y, node.get("activation_params", ()))


def _gemm(run: Any, node: Any, values: Any, *inputs: Any) -> Any:
    y = products.OPERATORS["Gemm"](run, node, values, *inputs)
    given = [node.get(f"activation_{name}") for name in ("alpha", "beta", "gamma")]
    return _activated(run, node, values, y, [number for number in given if number is not None])


@plain
def _skip_layer(
    node: Any, x: Any, skip: Any, gamma: Any, beta: Any = None, bias: Any = None
) -> Any:
    x = _sum(x, skip, bias)
    y, mean, inverse = normalized(x, (x.ndim - 1,), node.get("epsilon", 1e-12))
    y = y * gamma
    return [y if beta is None else y + beta, mean, inverse, x]


@plain
def _skip_rms(node: Any, x: Any, skip: Any, gamma: Any, bias: Any = None) -> Any:
    x = _sum(x, skip, bias)
    inverse = 1 / F.sqrt(F.mean(x * x, axis=-1, keepdims=True) + node.get("epsilon", 1e-12))
    return [x * inverse * gamma, None, inverse, x]


def _sum(x: Any, skip: Any, bias: Any) -> Any:
    return x + skip if bias is None else x + skip + bias


@plain
def _attention(node: Any, x: Any, W: Any, b: Any = None, mask: Any = None, *others: Any) -> Any:
    """Queries, keys and values come from the thirds of one matrix; heads lie side by side."""
    if any([each is not None for each in others]):
        raise NotImplementedError("a past, or a bias of scores")
    if node.get("do_rotary", 0) or node.get("qkv_hidden_sizes"):
        raise NotImplementedError("rotation, or values of another size")
    batch, length, _ = x.shape
    heads = node.get("num_heads")
    rows = xp_of(x).matmul(x, W)
    rows = rows if b is None else rows + b
    parts = F.transpose(F.reshape(rows, (batch, length, 3, heads, -1)), (2, 0, 3, 1, 4))
    q, k, v = parts[0], parts[1], parts[2]
    scale = node.get("scale", 0.0) or 1 / math.sqrt(q.shape[-1])
    scores = scale * F.matmul(q, k, transb=True)
    hidden = _hidden(mask, batch, length)
    if node.get("unidirectional", 0):
        hidden = hidden | np.triu(np.ones((length, length), bool), 1)
    if hidden.any():
        filled = np.where(hidden, node.get("mask_filter_value", _MASKED), 0).astype("float32")
        scores = scores + F.cast(like(x, np.broadcast_to(filled, scores.shape)), scores.dtype)
    seen = F.matmul(F.softmax(scores, axis=3), v)
    return F.reshape(F.transpose(seen, (0, 2, 1, 3)), (batch, length, -1))


def _hidden(mask: Any, batch: int, length: int) -> Any:
    """Where no key is seen: a mask has 1 for those that are, or says how many there are."""
    if mask is None:
        return np.zeros((1, 1, 1, 1), bool)
    there = host(mask)
    if there.shape == (batch, length):
        return there[:, None, None] == 0
    if there.shape == (batch, length, length):
        return there[:, None] == 0
    if there.shape == (batch,):
        return (np.arange(length) >= there[:, None])[:, None, None]
    raise Refused(f"expected a mask of shape {(batch, length)}, got {there.shape}")


OPERATORS: dict[str, Any] = {
    "SimplifiedLayerNormalization": layers.OPERATORS["RMSNormalization"],
    **{
        f"com.microsoft.{name}": operator
        for name, operator in {
            "Attention": _attention,
            "BiasGelu": _gelu,
            "FastGelu": _fast_gelu,
            "FusedConv": _conv,
            "FusedGemm": _gemm,
            "FusedMatMul": _matmul,
            "Gelu": _gelu,
            "QuickGelu": _quick_gelu,
            "SkipLayerNormalization": _skip_layer,
            "SkipSimplifiedLayerNormalization": _skip_rms,
        }.items()
    },
}
