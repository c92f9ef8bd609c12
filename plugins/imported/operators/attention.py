"""Attention, with heads that share keys, masks, and keys of earlier calls; and its relatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import (
    Refused,
    cast,
    dtype_name,
    dtype_of,
    host,
    like,
    plain,
    xp_of,
)
from plugins.imported.operators.control import inner
from plugins.imported.operators.moving import replaced


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


def _flexible(run: Any, node: Any, values: Any, q: Any, k: Any, v: Any) -> Any:
    """Attention whose scores and weights graphs of the node change."""

    def changed(name: str, x: Any) -> Any:
        graph = node.get(name)
        if graph is None:
            return x
        if len(graph.inputs) != 1 or len(graph.outputs) != 1:
            raise Refused(f"expected {name} of one array to one, got another graph")
        return inner(run, graph, values, {graph.inputs[0]: x})[0]

    number, own = node.get("softmax_precision"), dtype_of(q)
    wide = dtype_name(number) if number else "float64" if own == "float64" else "float32"
    root = math.sqrt(node.get("scale") or 1 / math.sqrt(q.shape[-1]))
    k, v = (_shared(x, q.shape[1]) for x in (k, v))
    scores = cast(F.matmul(q * root, k * root, transb=True), wide)
    weights = changed("prob_mod", F.softmax(changed("score_mod", scores), axis=-1))
    return cast(F.matmul(weights, cast(v, wide)), own)


@plain
def _rotary(node: Any, x: Any, cos: Any, sin: Any, positions: Any = None) -> Any:
    """Pairs of features turned by an angle that grows with the position (Su et al. 2021)."""
    flat = x.ndim == 3
    y = _heads(x, node.get("num_heads")) if flat else x
    n = node.get("rotary_embedding_dim", 0) or y.shape[-1]
    turned, rest = y[..., :n], y[..., n:]
    if positions is not None:
        cos, sin = (table[positions] for table in (cos, sin))
    cos, sin = (F.expand_dims(table, -3) for table in (cos, sin))
    pairs = node.get("interleaved", 0)
    parts = (slice(0, n, 2), slice(1, n, 2)) if pairs else (slice(n // 2), slice(n // 2, n))
    a, b = (turned[..., part] for part in parts)
    both = [cos * a - sin * b, sin * a + cos * b]
    found = F.stack(both, axis=-1) if pairs else F.concat(both, axis=-1)
    y = F.concat([F.reshape(found, turned.shape), rest], axis=-1)
    return F.reshape(F.transpose(y, (0, 2, 1, 3)), x.shape) if flat else y


@plain
def _tensor_scatter(node: Any, cache: Any, new: Any, start: Any = None) -> Any:
    """Keys of new positions among those of earlier calls."""
    axis, n = node.get("axis", -2) % cache.ndim, new.shape[node.get("axis", -2)]
    first = np.zeros(cache.shape[0], int) if start is None else host(start).reshape(-1)
    places = first[:, None] + np.arange(n)
    if node.get("mode", "linear") == "circular":
        places %= cache.shape[axis]
    elif places.size and not 0 <= places.min() <= places.max() < cache.shape[axis]:
        raise Refused(f"expected places below {cache.shape[axis]}, got {places.max()}")
    c, y = F.moveaxis(cache, axis, 1), F.moveaxis(new, axis, 1)
    return F.moveaxis(replaced(c, (np.arange(len(first))[:, None], places), y), 1, axis)


@plain
def _swiglu(node: Any, a: Any, b: Any) -> Any:
    return a * F.sigmoid(node.get("alpha", 1.0) * a) * b


@plain
def _causal_conv(node: Any, x: Any, W: Any, b: Any = None, past: Any = None) -> Any:
    """A convolution of each channel with what came before, which the state has."""
    how, k = node.get("activation", "none"), W.shape[2]
    if how not in ("none", "silu", "swish"):
        raise NotImplementedError(f"an activation of {how}")
    if past is None:
        past = like(x, np.zeros((*x.shape[:2], k - 1), host(x).dtype))
    whole = F.concat([past, x], axis=2)
    y = F.convolution_nd(whole, W, b, 1, 0, groups=x.shape[1])
    return [y if how == "none" else y * F.sigmoid(y), whole[:, :, whole.shape[2] - k + 1 :]]


@plain
def _linear_attention(node: Any, q: Any, k: Any, v: Any, *more: Any) -> Any:
    """Attention by a matrix for each head that each position changes (Katharopoulos et al. 2020).

    The state decays where it is gated, and new values are told apart from those that it has
    already by the delta rule (Yang et al. 2024).
    """
    rest: list[Any] = [*more, *[None] * (3 - len(more))]
    past, decay, beta = rest
    heads, groups = node.get("q_num_heads"), node.get("kv_num_heads")
    name, size = dtype_of(q), q.shape[-1] // heads
    queries = _heads(cast(q, "float32"), heads)
    keys, values = (_heads(cast(x, "float32"), groups) for x in (k, v))
    gates = None if decay is None else _heads(cast(decay, "float32"), groups)
    rates = None if beta is None else _heads(cast(beta, "float32"), beta.shape[-1])
    first = like(q, np.zeros((q.shape[0], groups, size, values.shape[-1]), "f"))
    state = first if past is None else cast(past, "float32")
    scale = node.get("scale", 0.0) or 1 / math.sqrt(size)
    rows = []
    for i in range(q.shape[1]):
        if gates is not None:
            state = state * F.exp(F.expand_dims(gates[:, :, i], -1))
        key, value = F.expand_dims(keys[:, :, i], -1), F.expand_dims(values[:, :, i], -2)
        if rates is not None:
            known = F.sum(state * key, axis=2, keepdims=True)
            value = F.expand_dims(rates[:, :, i], -1) * (value - known)
        state = state + key * value
        rows.append(F.matmul(F.expand_dims(queries[:, :, i], -2), _shared(state, heads)))
    y = F.transpose(F.concat(rows, axis=2) * scale, (0, 2, 1, 3))
    y = F.reshape(y, (*q.shape[:2], -1))
    return [cast(y, name), cast(state, name if past is None else dtype_of(past))]


OPERATORS: dict[str, Any] = {
    "ai.onnx.preview.FlexAttention": _flexible,
    "Attention": _attention,
    "CausalConvWithState": _causal_conv,
    "LinearAttention": _linear_attention,
    "RotaryEmbedding": _rotary,
    "SwiGLU": _swiglu,
    "TensorScatter": _tensor_scatter,
}
