"""Attention, some queries at a time: the matrix of all weights is never there.

Keys and values lie as panels, whose lanes are a multiple of the widest vector's. Of the weights
there are as many rows as there are queries in a block; in the gradient they are computed again from
the logarithms of their sums. Queries, keys and values are read as they lie in memory, so that heads
need not be copied to stand one after the other.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.attention.of_few import FEW, attend_few
from backends.numpy_backend.kernels.compiled.attention.weights import share_out, weigh, weigh_back
from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiled.products.panels import (
    add_product,
    copy_rows,
    turn_rows,
)
from backends.numpy_backend.kernels.compiler import (
    Array,
    Indices,
    Read1,
    Real,
    Write1,
    compiled,
    inlined,
)
from core.typing import Shape

BLOCK = 24  # queries at a time
LANES = 16  # of the widest vectors
LEAST = 1 << 17  # products of a part


@inlined
def _padded(size: Any) -> Any:
    return (size + LANES - 1) // LANES * LANES


@compiled
def attend(
    q: Read1, q_at: Indices, q_row: int,
    k: Read1, k_at: Indices, k_row: int,
    v: Read1, v_at: Indices, v_row: int,
    y: Write1, y_at: Indices, y_row: int,
    log_total: Write1,
    n: int, m: int, e: int, d: int, scale: Real, causal: int, start: int, stop: int,
) -> None:  # fmt: skip
    """The results of some heads, and the logarithms of what their weights were divided by."""
    wide, deep = _padded(m), _padded(d)
    keys, values = np.empty(e * wide, q.dtype), np.empty(m * deep, q.dtype)
    weights = np.empty(BLOCK * wide, q.dtype)
    results, total = np.empty(BLOCK * deep, q.dtype), np.empty(BLOCK, q.dtype)
    for head in range(start, stop):
        turn_rows(keys, wide, k, k_at[head], k_row, m, e)
        copy_rows(values, 0, deep, v, v_at[head], v_row, m, d)
        for first in range(0, n, BLOCK):
            rows = min(BLOCK, n - first)
            seen = min(m, first + rows) if causal else m
            weights[:] = ZERO
            results[:] = ZERO
            query = q[q_at[head] + first * q_row :]
            add_product(weights, wide, query, q_row, 1, keys, wide, rows, e, _padded(seen))
            own, more = (first + 1, 1) if causal else (m, 0)
            at = head * n + first
            weigh(weights, wide, rows, own, more, m, _padded(seen), scale, log_total, at, total)
            add_product(results, deep, weights, wide, 1, values, deep, rows, seen, deep)
            share_out(results, deep, rows, total)
            for r in range(rows):
                log_total[at + r] += np.log(total[r])
            copy_rows(y, y_at[head] + first * y_row, y_row, results, 0, deep, rows, d)


@compiled
def attend_gradient(
    g: Read1, g_at: Indices, g_row: int,
    q: Read1, q_at: Indices, q_row: int,
    k: Read1, k_at: Indices, k_row: int,
    v: Read1, v_at: Indices, v_row: int,
    gq: Write1, gq_at: Indices, gq_row: int,
    gk: Write1, gk_at: Indices, gk_row: int,
    gv: Write1, gv_at: Indices, gv_row: int,
    log_total: Read1,
    n: int, m: int, e: int, d: int, scale: Real, causal: int, start: int, stop: int,
) -> None:  # fmt: skip
    """The gradients of some heads."""
    wide, deep, across = _padded(m), _padded(d), _padded(e)
    keys, turned_keys = np.empty(m * across, q.dtype), np.empty(e * wide, q.dtype)
    turned_values = np.empty(d * wide, q.dtype)
    of_keys = np.empty(m * across, q.dtype)
    of_values = np.empty(m * deep, q.dtype)
    weights = np.empty(BLOCK * wide, q.dtype)
    through = np.empty(BLOCK * wide, q.dtype)
    queries = np.empty(BLOCK * across, q.dtype)
    of_queries = np.empty(BLOCK * across, q.dtype)
    given = np.empty(BLOCK * deep, q.dtype)
    for head in range(start, stop):
        copy_rows(keys, 0, across, k, k_at[head], k_row, m, e)
        turn_rows(turned_keys, wide, k, k_at[head], k_row, m, e)
        turn_rows(turned_values, wide, v, v_at[head], v_row, m, d)
        of_keys[:] = ZERO
        of_values[:] = ZERO
        for first in range(0, n, BLOCK):
            rows = min(BLOCK, n - first)
            seen = min(m, first + rows) if causal else m
            lanes = _padded(seen)
            copy_rows(queries, 0, across, q, q_at[head] + first * q_row, q_row, rows, e)
            copy_rows(given, 0, deep, g, g_at[head] + first * g_row, g_row, rows, d)
            weights[:] = ZERO
            through[:] = ZERO
            of_queries[:] = ZERO
            add_product(weights, wide, queries, across, 1, turned_keys, wide, rows, e, lanes)
            add_product(through, wide, given, deep, 1, turned_values, wide, rows, d, lanes)
            own, more = (first + 1, 1) if causal else (m, 0)
            at = head * n + first
            weigh_back(weights, through, wide, rows, own, more, m, lanes, scale, log_total, at)
            add_product(of_values, deep, weights, 1, wide, given, deep, seen, rows, deep)
            add_product(of_keys, across, through, 1, wide, queries, across, seen, rows, across)
            add_product(of_queries, across, through, wide, 1, keys, across, rows, seen, across)
            copy_rows(gq, gq_at[head] + first * gq_row, gq_row, of_queries, 0, across, rows, e)
        copy_rows(gk, gk_at[head], gk_row, of_keys, 0, across, m, e)
        copy_rows(gv, gv_at[head], gv_row, of_values, 0, deep, m, d)


# -- what offers them ------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """How a stack of matrices lies in memory."""

    order: tuple[int, ...]  # of its axes, from the farthest steps to the nearest
    length: int  # from its first element to its last one
    dense: bool  # nothing else lies between
    starts: Array  # of each matrix, in elements
    row: int  # how far rows are apart


@lru_cache(maxsize=1024)
def _layout(shape: Shape, strides: tuple[int, ...], size: int) -> _Layout | None:
    """The layout; None where elements of a row do not stand side by side."""
    if strides[-1] != size or any([s < 0 or s % size for s in strides]):
        return None
    *steps, row, _ = [s // size for s in strides]
    starts = np.zeros(shape[:-2], np.intp)
    for axis, step in enumerate(steps):
        starts += (np.arange(shape[axis]) * step).reshape(-1, *(1,) * (starts.ndim - axis - 1))
    order = (*sorted(range(len(shape) - 1), key=lambda axis: -strides[axis]), len(shape) - 1)
    length = 1 + sum([(n - 1) * s // size for n, s in zip(shape, strides, strict=True)])
    sizes, further = [shape[axis] for axis in order], [strides[axis] for axis in order]
    each = [prod(sizes[i + 1 :]) * size for i in range(len(sizes))]  # were nothing between them
    dense = all([n == 1 or a == b for n, a, b in zip(sizes, further, each, strict=True)])
    return _Layout(order, length, dense, starts.reshape(-1), row)


def _lying(x: Array) -> tuple[Array, Array, int]:
    """The memory of a stack of matrices, where each of them begins, and how far rows are apart."""
    found = _layout(x.shape, x.strides, x.itemsize) if x.flags.aligned else None
    if found is None:
        return _lying(x.copy())
    if found.dense:  # sooner than the other way
        memory = x.transpose(found.order).reshape(-1)
    else:
        memory = as_strided(x, (found.length,), (x.itemsize,), writeable=x.flags.writeable)
    return memory, found.starts, found.row


def _suit(*arrays: Array) -> bool:
    """Whether there is much to compute, from floats of one dtype, and nothing broadcasts."""
    q, k, v = arrays[:3]
    return (
        all([a.size > 0 and a.dtype == q.dtype and a.shape[:-2] == q.shape[:-2] for a in arrays])
        and q.dtype in compiler.FLOATS
        and q.size * k.shape[-2] * compiler.MANY >= compiler.SMALL
    )


def _divide(loop: Any, f: Any, q: Array, k: Array, v: Array, *args: Any) -> None:
    (n, e), (m, d) = q.shape[-2:], v.shape[-2:]
    sizes = (n, m, e, d, q.dtype.type(f.scale), int(f.is_causal))
    parallel.divide(loop, prod(q.shape[:-2]), -(-LEAST // (n * m * (e + d))), *args, *sizes)


def attention(f: Any, xp: Any, query: Any, key: Any, value: Any) -> Any:
    """The weighted means, lying in memory as the queries do; `log_total` is kept."""
    if not _suit(query, key, value) or key.shape[-2] != value.shape[-2]:
        return NotImplemented
    if query.shape[-1] != key.shape[-1]:
        return NotImplemented
    y = _like(query, value.shape[-1])
    f.log_total = np.empty((*query.shape[:-1], 1), query.dtype)
    arrays = [*_lying(query), *_lying(key), *_lying(value), *_lying(y)]
    loop = attend_few if query.shape[-2] <= FEW else attend
    _divide(loop, f, query, key, value, *arrays, f.log_total.reshape(-1))
    return y


def _like(x: Array, columns: int) -> Array:
    """Memory for rows of so many elements in the order of those of x."""
    if x.flags.c_contiguous:
        return np.empty((*x.shape[:-1], columns), x.dtype)
    order = sorted(range(x.ndim - 1), key=lambda axis: -x.strides[axis])
    memory = np.empty((*[x.shape[axis] for axis in order], columns), x.dtype)
    back = [order.index(axis) for axis in range(x.ndim - 1)]
    return memory.transpose(*back, x.ndim - 1)


def attention_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """All three gradients, lying as what they are of."""
    inputs = [f._sources[i].data for i in range(3)]
    if not _suit(*inputs, g):
        return NotImplemented
    gradients = [_like(x, x.shape[-1]) for x in inputs]
    arrays = [part for x in (g, *inputs, *gradients) for part in _lying(x)]
    log_total = np.ascontiguousarray(f.log_total).reshape(-1)
    _divide(attend_gradient, f, *inputs, *arrays, log_total)
    return tuple([a if needs_grad >> i & 1 else None for i, a in enumerate(gradients)])
