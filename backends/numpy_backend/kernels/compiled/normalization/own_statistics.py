"""Layer and group normalization: by the mean and variance of parts of each example.

Sums are taken in the order of the machine's vectors, and in parts by the number of threads.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.elementary import ONE, ZERO
from backends.numpy_backend.kernels.compiled.math.sums_of_rows import squares_of, sum_of
from backends.numpy_backend.kernels.compiled.normalization import batch as normalization
from backends.numpy_backend.kernels.compiled.normalization import few_statistics
from backends.numpy_backend.kernels.compiled.normalization.batch import (
    CALLS,
    affine,
    are_few,
    combined,
    divide,
    moments,
    products,
    two,
)
from backends.numpy_backend.kernels.compiler import (
    ROWS,
    SUMS,
    Array,
    Read1,
    Read2,
    Real,
    Write1,
    Write2,
    compiled,
    contiguous,
    empty,
    in_loops,
    native,
    ready_for_few,
    suits,
)
from backends.numpy_backend.sums import total
from core.typing import Shape

# -- layers: each row is a part, and has a parameter for each of its elements ----------------------


@compiled(fastmath=SUMS)
def _layer(
    x: Read2,
    gamma: Read1,
    beta: Read1,
    eps: Real,
    mean: Write1,
    scale: Write1,
    y: Write2,
    start: int,
    stop: int,
) -> None:
    for r in range(start, stop):
        row, out = x[r], y[r]
        count = row.dtype.type(row.size)
        m = sum_of(row) / count
        s = ONE / np.sqrt(squares_of(row, m) / count + eps)
        mean[r], scale[r] = m, s
        for i in range(row.size):
            out[i] = (row[i] - m) * s * gamma[i] + beta[i]


@compiled(fastmath=SUMS)
def _layer_gradient(
    g: Read2,
    x: Read2,
    gamma: Read1,
    mean: Read1,
    scale: Read1,
    gx: Write2,
    ggamma: Write1,
    gbeta: Write1,
    start: int,
    stop: int,
) -> None:
    for i in range(ggamma.size):
        ggamma[i], gbeta[i] = ZERO, ZERO
    for r in range(start, stop):
        given, row, out, m, s = g[r], x[r], gx[r], mean[r], scale[r]
        count = row.dtype.type(row.size)
        total, product = ZERO, ZERO
        for i in range(row.size):
            total += given[i] * gamma[i]
            product += given[i] * gamma[i] * (row[i] - m)
        shift, slope = s * total / count, s * s * s * product / count
        for i in range(row.size):
            out[i] = s * given[i] * gamma[i] - shift - slope * (row[i] - m)
        for i in range(row.size):
            ggamma[i] += given[i] * ((row[i] - m) * s)
        for i in range(row.size):
            gbeta[i] += given[i]


def _along_rows(f: Any, x: Array) -> bool:
    """Whether parts are rows: along the last axes."""
    return bool(f.axis == tuple(range(x.ndim - len(f.axis), x.ndim)))


@in_loops
def layer_normalization(f: Any, xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """`gamma * (x - mean) / sqrt(var + eps) + beta`; `mean` and the factor are kept."""
    if not suits(x, calls=CALLS) or not _along_rows(f, x):
        return NotImplemented
    if not gamma.shape == beta.shape == x.shape[x.ndim - len(f.axis) :]:
        return NotImplemented
    rows = np.ascontiguousarray(x).reshape(-1, gamma.size)
    y, (mean, scale) = np.empty_like(rows), two(rows)
    eps = x.dtype.type(f.eps)
    divide(_layer, rows, *contiguous(gamma, beta), eps, mean, scale, y)
    kept = (*x.shape[: x.ndim - len(f.axis)], *(1,) * len(f.axis))
    f.mean, f.scale = mean.reshape(kept), scale.reshape(kept)
    return y.reshape(x.shape)


def _of_last_axis(shape: Shape, dtype: Any) -> Any:
    if prod(shape) * CALLS < compiler.SMALL:
        return None
    columns, own, kept, axis = shape[-1], shape[-1:], (*shape[:-1], 1), (len(shape) - 1,)
    rows, kind = prod(kept), dtype.type

    def run(f: Any, x: Any, gamma: Any, beta: Any) -> Any:
        alike = gamma.dtype == beta.dtype == dtype and gamma.shape == beta.shape == own
        lying = [a.flags.c_contiguous and a.flags.aligned for a in (gamma, beta)]
        if f.axis != axis or not (alike and all(lying)):
            return layer_normalization(f, None, x, gamma, beta)
        statistics, y = np.empty((2, rows), dtype), np.empty((rows, columns), dtype)
        mean, scale = statistics
        _layer(x.reshape(rows, columns), gamma, beta, kind(f.eps), mean, scale, y, 0, rows)
        f.mean, f.scale = mean.reshape(kept), scale.reshape(kept)
        return y.reshape(shape)

    return run


ready_for_few(layer_normalization, lambda: 2 * normalization.LEAST, _of_last_axis)


@in_loops
def layer_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """All three gradients in one pass over the rows."""
    x, gamma = f._sources[0].data, f._sources[1].data
    if not suits(x, g, calls=CALLS) or not _along_rows(f, x):
        return NotImplemented
    given, rows = [np.ascontiguousarray(a).reshape(-1, gamma.size) for a in (g, x)]
    gx = np.empty_like(rows)
    least = -(-normalization.LEAST // gamma.size)
    count = max(parallel.count(len(rows), least), -(-len(rows) // ROWS))
    arrays = given, rows, *contiguous(gamma, f.mean, f.scale), gx
    if count == 1:
        ggamma, gbeta = empty(2, gamma.size, x.dtype)
        _layer_gradient(*arrays, ggamma, gbeta, 0, len(rows))
        found = ggamma.reshape(gamma.shape), gbeta.reshape(gamma.shape)
        return _asked_for(needs_grad, gx.reshape(x.shape), *found)
    edges = [len(rows) * i // count for i in range(count + 1)]
    sums = np.empty((2, count, gamma.size), x.dtype)
    parts = [(*arrays, *sums[:, i], *part) for i, part in enumerate(pairwise(edges))]
    parallel.each(_layer_gradient, parts)
    ggamma, gbeta = [total(a, 0).reshape(gamma.shape) for a in sums]
    return _asked_for(needs_grad, gx.reshape(x.shape), ggamma, gbeta)


def _asked_for(needs_grad: int, *gradients: Array) -> tuple[Array | None, ...]:
    return tuple([g if needs_grad >> i & 1 else None for i, g in enumerate(gradients)])


# -- groups: several rows make a part, and each row has its parameters -----------------------------


def _of_rows(f: Any, of_groups: Array, channels: int) -> Array:
    """What belongs to groups, for each of their channels."""
    return np.repeat(of_groups.reshape(-1), channels // f.groups)


def group_normalization(f: Any, xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """`gamma * (x - mean) / sqrt(var + eps) + beta`; `mean` and the factor are kept."""
    if not suits(x, calls=CALLS) or not gamma.shape == beta.shape == x.shape[1:2]:
        return NotImplemented
    places = prod(x.shape[2:])
    if are_few(x, len(x) * places):
        return few_statistics.group_normalization(f, x, gamma, beta, places)
    if places < normalization.SHORT:
        return NotImplemented
    examples, channels = x.shape[:2]
    rows = np.ascontiguousarray(x).reshape(-1, places)
    parts = rows.reshape(examples * f.groups, -1)
    mean, squares = two(parts)
    divide(moments, parts, mean, squares)
    scale = 1 / np.sqrt(squares / x.dtype.type(parts.shape[1]) + x.dtype.type(f.eps))
    f.mean, f.scale = [a.reshape(examples, f.groups, 1) for a in (mean, scale)]
    factor = _of_rows(f, scale, channels) * np.tile(gamma, examples)
    y = np.empty_like(rows)
    shift = np.tile(native(beta), examples)
    divide(affine, rows, _of_rows(f, mean, channels), factor, shift, y)
    return y.reshape(x.shape)


def group_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """All three gradients from the sums of rows."""
    x, gamma = f._sources[0].data, f._sources[1].data
    if not suits(x, g, calls=CALLS):
        return NotImplemented
    places = prod(x.shape[2:])
    if are_few(x, len(x) * places):
        found = few_statistics.group_normalization_gradient(f, g, x, gamma, places)
        return _asked_for(needs_grad, *found)
    if places < normalization.SHORT:
        return NotImplemented
    examples, channels = x.shape[:2]
    given, rows = [np.ascontiguousarray(a).reshape(-1, places) for a in (g, x)]
    mean, scale = [_of_rows(f, a, channels) for a in (f.mean, f.scale)]
    plain, product = two(rows)
    divide(products, given, rows, mean, plain, product)
    factor = np.tile(gamma, examples)
    count = x.dtype.type(x.size // (examples * f.groups))
    sums = [(a * factor).reshape(examples * f.groups, -1).sum(axis=1) for a in (plain, product)]
    shift, slope = [_of_rows(f, a / count, channels) for a in sums]
    gx = np.empty_like(rows)
    divide(combined, given, rows, mean, scale * factor, scale * shift, scale**3 * slope, gx)
    ggamma = total((product * scale).reshape(examples, channels), 0)
    gbeta = total(plain.reshape(examples, channels), 0)
    return _asked_for(needs_grad, gx.reshape(x.shape), ggamma, gbeta)
