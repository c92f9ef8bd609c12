"""Attention by scaled products (Vaswani et al. 2017, section 3.2.1)."""

from __future__ import annotations

from math import sqrt
from typing import Any

from core import Variable, as_array, as_variable
from core.arrays import backend
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.activation.softmax import softmax
from plugins.functions.array.axis_order import matrix_transpose
from plugins.functions.array.where import where
from plugins.functions.attention.attention import Attention
from plugins.functions.math.product import product as matmul
from plugins.functions.noise.dropout import dropout
from plugins.functions.refusal import dtype_name


@checked
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Variable:
    """Average values, weighted by how well each query matches each key: softmax(q k^T / √e) v.

    Args:
        query: (..., n, e), floating.
        key: (..., m, e), of the dtype of `query`; leading axes broadcast.
        value: (..., m, d), of the dtype of `query`.
        attn_mask: None, or what broadcasts to (..., n, m): truth values, of which False keeps a
            query from a key; or numbers of the dtype of `query`, added to the scaled products, of
            which -inf does.
        dropout_p: In [0, 1): how many of the weights are dropped at random, while training.
        is_causal: Whether query i is kept from all keys beyond the i-th.
        scale: What the products are multiplied by; None is 1 / √e.

    Returns:
        (..., n, d), and the dtype of `query`; 0 for a query that is kept from all keys.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `dropout_p` is out of range.

    Source: Vaswani et al. 2017, "Attention Is All You Need", eq. 1.

    >>> import core.functions as F, numpy as np
    >>> q = np.array([[0, 0], [1000, 0]], "f")
    >>> F.scaled_dot_product_attention(q, np.eye(2, dtype="f"), np.array([[2], [4]], "f"))
    variable([[3.],
              [2.]], dtype=float32)
    >>> mask = np.array([[True, False], [False, False]])
    >>> F.scaled_dot_product_attention(q, q, np.array([[2], [4]], "f"), attn_mask=mask)
    variable([[2.],
              [0.]], dtype=float32)
    """
    query, key, value = as_variable(query), as_variable(key), as_variable(value)
    _check(query, key, value)
    scale = 1 / sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    if attn_mask is None and not dropout_p and key.shape[-2]:
        return Attention.call(query, key, value, scale=scale, is_causal=is_causal)
    products = matmul(query * scale, matrix_transpose(key))
    allowed = _causal(products) if is_causal else None
    some = None
    if attn_mask is not None:
        kind = backend.of(attn_mask).kind(attn_mask.dtype)
        if kind in "iu":
            raise InvalidType(
                "attn_mask.dtype is bool, or that of query",
                dtype_name(attn_mask),
                operation="scaled_dot_product_attention",
                cure="write attn_mask.astype(bool), where 0 keeps a query from a key.",
            )
        if kind == "b":
            mask = as_array(attn_mask)
            allowed = mask if allowed is None else products.xp.logical_and(mask, allowed)
        else:
            some, added = _some(as_variable(attn_mask))
            products = products + added
    weights = _weights(products, allowed)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    y = matmul(weights, value)
    return y if some is None else where(some, y, y.xp.zeros_like(y.array))


def _check(query: Variable, key: Variable, value: Variable) -> None:
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise _refused(f"{name}.ndim >= 2", f"{x.ndim} < 2")
        if x.dtype != query.dtype and dtype_name(x) != dtype_name(query):
            # matmul would compute in the wider one
            came = f"{dtype_name(x)} != {dtype_name(query)}"
            raise _refused(f"{name}.dtype == query.dtype", came)
    if query.shape[-1] != key.shape[-1]:
        expect = "query.shape[-1] == key.shape[-1]"
        raise _refused(expect, f"{query.shape[-1]} != {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        expect = "key.shape[-2] == value.shape[-2]"
        raise _refused(expect, f"{key.shape[-2]} != {value.shape[-2]}")


def _causal(products: Variable) -> Any:
    """(n, m): whether each key stands at the place of each query or before."""
    xp, array = products.xp, products.array
    queries, keys = (xp.arange(n, device=array.device) for n in products.shape[-2:])
    return keys[None, :] <= queries[:, None]


def _some(mask: Variable) -> tuple[Any, Variable]:
    """Which queries are not kept from all keys by -inf, and the mask without those that are.

    The softmax of nothing but -inf would be NaN, and so would all gradients.
    """
    xp, axis = mask.xp, -1 if mask.ndim else None
    some = xp.any(mask.array != -float("inf"), axis=axis, keepdims=True)
    some = mask.backend.asarray(some)  # it may be a scalar
    return some, where(some, mask, xp.zeros_like(mask.array))


def _weights(products: Variable, allowed: Any) -> Variable:
    if allowed is None:
        return softmax(products, axis=-1)
    # Finite, so that a row of nothing else gives no NaN, and less than scores of the dtype are.
    narrow = backend.of(products.array).dtype_name(products.dtype) == "float16"
    lowest = -65504.0 if narrow else -1e38
    weights = softmax(where(allowed, products, lowest), axis=-1)
    return where(allowed, weights, 0.0)


def _refused(expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation="scaled_dot_product_attention")
