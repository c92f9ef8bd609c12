"""Batch normalization of arrays whose channels lie side by side, such as outputs of linear layers.

They are seen as columns, and divided among threads by columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiler import (
    ROWS,
    Array,
    Read1,
    Read2,
    Real,
    Write1,
    Write2,
    compiled,
    contiguous,
    empty,
)

LEAST = 131072  # elements of a part


@compiled
def _normalized(
    x: Read2,
    gamma: Read1,
    beta: Read1,
    eps: Real,
    mean: Write1,
    var: Write1,
    scale: Write1,
    part: Write1,
    y: Write2,
    start: int,
    stop: int,
) -> None:
    count = mean.dtype.type(x.shape[0])
    m, v, k, b = mean[start:stop], var[start:stop], scale[start:stop], beta[start:stop]
    some = part[start:stop]
    for i in range(m.size):
        m[i], v[i] = ZERO, ZERO
    for first in range(0, x.shape[0], ROWS):
        for i in range(m.size):
            some[i] = ZERO
        for r in range(first, min(first + ROWS, x.shape[0])):
            row = x[r, start:stop]
            for i in range(m.size):
                some[i] += row[i]
        for i in range(m.size):
            m[i] += some[i]
    for i in range(m.size):
        m[i] /= count
    for first in range(0, x.shape[0], ROWS):
        for i in range(m.size):
            some[i] = ZERO
        for r in range(first, min(first + ROWS, x.shape[0])):
            row = x[r, start:stop]
            for i in range(m.size):
                some[i] += (row[i] - m[i]) * (row[i] - m[i])
        for i in range(m.size):
            v[i] += some[i]
    for i in range(m.size):
        v[i] /= count
        k[i] = gamma[start + i] / np.sqrt(v[i] + eps)
    for r in range(x.shape[0]):
        row, out = x[r, start:stop], y[r, start:stop]
        for i in range(m.size):
            out[i] = (row[i] - m[i]) * k[i] + b[i]


@compiled
def _gradients(
    g: Read2,
    x: Read2,
    mean: Read1,
    deviation: Read1,
    gamma: Read1,
    total: Write1,
    product: Write1,
    shift: Write1,
    slope: Write1,
    parts: Write2,
    gx: Write2,
    start: int,
    stop: int,
) -> None:
    """Sums of g and of g times normalized x; gx from them, if it has rows."""
    count = mean.dtype.type(x.shape[0])
    m, s, p = mean[start:stop], total[start:stop], product[start:stop]
    a, b, k = shift[start:stop], slope[start:stop], gamma[start:stop]
    s_part, p_part = parts[0, start:stop], parts[1, start:stop]
    for i in range(m.size):
        s[i], p[i] = ZERO, ZERO
    for first in range(0, x.shape[0], ROWS):
        for i in range(m.size):
            s_part[i], p_part[i] = ZERO, ZERO
        for r in range(first, min(first + ROWS, x.shape[0])):
            given, row = g[r, start:stop], x[r, start:stop]
            for i in range(m.size):
                s_part[i] += given[i]
            for i in range(m.size):
                p_part[i] += given[i] * (row[i] - m[i])
        for i in range(m.size):
            s[i] += s_part[i]
            p[i] += p_part[i]
    for i in range(m.size):
        d = deviation[start + i]
        p[i] /= d
        a[i] = k[i] / d * s[i] / count
        b[i] = k[i] / d * p[i] / d / count
    for r in range(gx.shape[0]):
        given, row, out = g[r, start:stop], x[r, start:stop], gx[r, start:stop]
        d = deviation[start:stop]
        for i in range(m.size):
            out[i] = k[i] / d[i] * given[i] - a[i] - b[i] * (row[i] - m[i])


@compiled
def _affine(
    x: Read2, mean: Read1, scale: Read1, shift: Read1, y: Write2, start: int, stop: int
) -> None:
    """(x - mean) scale + shift of rows `start` to `stop`."""
    for r in range(start, stop):
        row, out = x[r], y[r]
        for i in range(row.size):
            out[i] = (row[i] - mean[i]) * scale[i] + shift[i]


def _divide(loop: Any, x: Array, *others: Any) -> None:
    parallel.divide(loop, x.shape[1], -(-LEAST // len(x)), x, *others)


def batch_normalization(x: Array, gamma: Array, beta: Array, eps: float) -> tuple[Array, ...]:
    """`y`, and mean and variance of each channel, of which there are as many as scales."""
    rows = np.ascontiguousarray(x).reshape(-1, gamma.size)
    y, (mean, var, scale, part) = np.empty_like(rows), empty(4, gamma.size, x.dtype)
    given = *contiguous(gamma, beta), x.dtype.type(eps)
    _divide(_normalized, rows, *given, mean, var, scale, part, y)
    return y.reshape(x.shape), mean.reshape(gamma.shape), var.reshape(gamma.shape)


def affine(x: Array, mean: Array, scale: Array, shift: Array) -> Array:
    """(x - mean) scale + shift of the channels, which lie side by side."""
    rows = np.ascontiguousarray(x).reshape(-1, scale.size)
    y = np.empty_like(rows)
    each = contiguous(mean, scale, shift)
    parallel.divide(_affine, len(rows), -(-LEAST // scale.size), rows, *each, y)
    return y.reshape(x.shape)


def batch_normalization_gradient(
    g: Array, x: Array, gamma: Array, mean: Array, deviation: Array, wanted: bool
) -> tuple[Array | None, Array, Array]:
    """The gradients of x, if it is wanted, of scales and of shifts."""
    given, rows = [np.ascontiguousarray(a).reshape(-1, gamma.size) for a in (g, x)]
    gx = np.empty((len(rows) if wanted else 0, gamma.size), x.dtype)
    total, product, shift, slope = empty(4, gamma.size, x.dtype)
    channels = contiguous(mean, deviation, gamma)
    parts = np.empty((2, gamma.size), x.dtype)
    _divide(_gradients, given, rows, *channels, total, product, shift, slope, parts, gx)
    gx_ = gx.reshape(x.shape) if wanted else None
    return gx_, product.reshape(gamma.shape), total.reshape(gamma.shape)
