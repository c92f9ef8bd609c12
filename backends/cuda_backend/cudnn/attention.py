"""Attention of 16-bit floats by cuDNN, block by block: the matrix of weights is never there."""

from __future__ import annotations

from typing import Any

from backends.cuda_backend.cudnn.layout import READ, Layout, lying, packed, whole
from backends.cuda_backend.cudnn.use import HALVES, or_formula, or_formula_of_gradient, plans_of
from core import config


@or_formula
def attention(f: Any, xp: Any, query: Any, key: Any, value: Any) -> Any:
    """The weighted means; the logarithms of the sums of weights, and the result, are kept."""
    plans = plans_of(query) if _suit(query, key, value) else None
    if plans is None:
        return NotImplemented
    arrays = [_readable(xp, a) for a in (query, key, value)]
    shape = *query.shape[:-1], value.shape[-1]
    of_total = packed((*_four(query.shape)[:3], 1), "float32")
    of_result = packed(_four(shape), query.dtype.name)
    inputs = tuple([_stacked(a) for a in arrays])
    plan = plans.find(sdpa, inputs, (of_result, of_total), float(f.scale), f.is_causal)
    if plan is None:
        return NotImplemented
    y = xp.empty(shape, dtype=query.dtype)
    f.log_total = xp.empty((*query.shape[:-1], 1), dtype="float32")
    f.attended = y
    plan(arrays, (y, f.log_total))
    return y


@or_formula_of_gradient
def attention_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """All three gradients, of what `attention` has kept."""
    inputs = [source.data for source in f._sources]
    y = getattr(f, "attended", None)
    plans = plans_of(g) if _suit(*inputs, g) else None
    if plans is None or y is None:
        return NotImplemented
    xp = f._sources[0].spec.xp
    arrays = [_readable(xp, a) for a in (*inputs, y, g)]
    layouts = [_stacked(a) for a in arrays]
    layouts.append(packed((*_four(y.shape)[:3], 1), "float32"))
    outputs = tuple([packed(_four(a.shape), a.dtype.name) for a in inputs])
    fixed = bool(config.cudnn_deterministic)
    settings = float(f.scale), f.is_causal, fixed
    plan = plans.find(sdpa_backward, tuple(layouts), outputs, *settings)
    if plan is None:
        return NotImplemented
    made = [xp.empty(a.shape, dtype=a.dtype) for a in inputs]
    plan((*arrays, whole(xp, f.log_total)), made)
    return tuple([a if needs_grad >> i & 1 else None for i, a in enumerate(made)])


# -- graphs ----------------------------------------------------------------------------------------


def sdpa(graph: Any, inputs: Any, scale: float, is_causal: bool) -> Any:
    """The result, and the logarithms of the sums."""
    q, k, v = inputs
    return graph.sdpa(
        q=q, k=k, v=v, attn_scale=scale, generate_stats=True, use_causal_mask=is_causal
    )


def sdpa_backward(graph: Any, inputs: Any, scale: float, is_causal: bool, fixed: bool) -> Any:
    """The three gradients; `fixed` has their sums taken in a fixed order."""
    q, k, v, o, g, stats = inputs
    return graph.sdpa_backward(
        q=q,
        k=k,
        v=v,
        o=o,
        dO=g,
        stats=stats,
        attn_scale=scale,
        use_causal_mask=is_causal,
        use_deterministic_algorithm=fixed,
    )


def _suit(*arrays: Any) -> bool:
    """Whether they are alike, nothing broadcasts, and there is something to compute.

    Of float32 cuDNN would round the products to TensorFloat-32.
    """
    first = arrays[0]
    return first.dtype.name in HALVES and all(
        [
            2 <= a.ndim <= 4
            and a.size > 0
            and a.dtype == first.dtype
            and a.shape[:-2] == first.shape[:-2]
            for a in arrays
        ]
    )


def _four(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*(1,) * (4 - len(shape)), *shape)


def _readable(xp: Any, a: Any) -> Any:
    """Rows as they lie, if each begins where cuDNN can read and has no gaps; else a copy."""
    begins = [a.data.ptr, *[s for s, n in zip(a.strides[:-1], a.shape, strict=False) if n > 1]]
    fits = a.strides[-1] == a.itemsize and min(a.strides) > 0
    return a if fits and not any([place % READ for place in begins]) else whole(xp, a)


def _stacked(a: Any) -> Layout:
    """How batches, heads, rows and elements lie."""
    found, missing = lying(a), 4 - a.ndim
    outer = (found.strides[0] * found.shape[0],) * missing
    return Layout(_four(found.shape), (*outer, *found.strides), found.dtype)
