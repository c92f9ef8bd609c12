"""Attention, with heads that share keys, masks, and keys of earlier calls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import host, like, plain, xp_of


def _heads(x: Any, count: Any) -> Any:
    """(n, l, heads * d) as (n, heads, l, d)."""
    if x.ndim == 4:
        return x
    n, length, size = x.shape
    return F.transpose(F.reshape(x, (n, length, count, size // count)), (0, 2, 1, 3))


def _shared(x: Any, heads: int) -> Any:
    """Each head of keys for several of queries."""
    return x if x.shape[1] == heads else xp_of(x).repeat(x, heads // x.shape[1], axis=1)


def _bias(node: Any, mask: Any, shape: Any, past: int, lengths: Any, dtype: Any) -> Any:
    """What is added to the scores, on the host where it does not depend on a mask of numbers."""
    n, _, queries, keys = shape
    seen = np.ones((1, 1, queries, keys), bool)
    columns = np.arange(keys)[None, :]
    offset = 0 if lengths is None else (host(lengths) - queries)[:, None, None, None]
    rows = np.arange(queries)[:, None] + past + offset
    left, right = (node.get(f"{side}_window_size", -1) for side in ("left", "right"))
    if node.get("is_causal", 0):
        seen = seen & (columns <= rows)
    if left >= 0:
        seen = seen & (columns >= rows - left)
    if right >= 0:
        seen = seen & (columns <= rows + right)
    if lengths is not None:
        seen = seen & (np.arange(keys) < host(lengths)[:, None])[:, None, None, :]
    if mask is not None:
        a = host(mask)
        if a.shape[-1] < keys:
            filled = False if a.dtype.kind == "b" else -np.inf
            widths = [(0, 0)] * (a.ndim - 1) + [(0, keys - a.shape[-1])]
            a = np.pad(a, widths, constant_values=filled)
        if a.dtype.kind == "b":
            seen = seen & a
        else:
            return np.where(seen, a, -np.inf).astype(dtype)
    return np.where(seen, 0.0, -np.inf).astype(dtype)


@plain
def _attention(node: Any, q: Any, k: Any, v: Any, *more: Any) -> Any:
    rest: list[Any] = [*more, *[None] * (4 - len(more))]
    mask, past_k, past_v, lengths = rest
    flat = q.ndim == 3
    q = _heads(q, node.get("q_num_heads"))
    k, v = (_heads(x, node.get("kv_num_heads")) for x in (k, v))
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        k, v = (F.concat([a, b], axis=2) for a, b in ((past_k, k), (past_v, v)))
    scale = node.get("scale") or 1 / math.sqrt(q.shape[-1])
    root = math.sqrt(scale)
    keys, values = (_shared(x, q.shape[1]) for x in (k, v))
    scores = F.matmul(q * root, keys * root, transb=True)
    dtype = host(scores).dtype
    bias = _bias(node, mask, scores.shape, past, lengths, dtype)
    kept = [scores]
    cap = node.get("softcap", 0.0)
    capped = cap * F.tanh(scores / cap) if cap else scores
    biased = capped + like(scores, np.broadcast_to(bias, scores.shape))
    kept += [capped, biased]
    nothing = np.isneginf(host(biased)).all(axis=-1, keepdims=True)
    if nothing.any():  # who sees nothing gets nothing
        alone = like(scores, np.broadcast_to(nothing, biased.shape))
        finite = F.where(alone, biased * 0, biased) if not nothing.all() else scores * 0
        finite = F.where(alone, scores * 0, finite)
        weights = F.where(alone, scores * 0, F.softmax(finite, axis=-1))
    else:
        weights = F.softmax(biased, axis=-1)
    kept.append(weights)
    y = F.matmul(weights, values)
    if flat:
        n, heads, length, size = y.shape
        y = F.reshape(F.transpose(y, (0, 2, 1, 3)), (n, length, heads * size))
    return [y, k, v, kept[node.get("qk_matmul_output_mode", 0)]]


OPERATORS: dict[str, Any] = {"Attention": _attention}
