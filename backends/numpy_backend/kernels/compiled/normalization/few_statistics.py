"""Normalization of so few elements that one thread computes it: all of it in one loop.

Elsewhere what is found of rows is put together by NumPy, in calls that each take longer than the
loop does here. Sums are taken in the order of the machine's vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiled.elementary import ONE, ZERO
from backends.numpy_backend.kernels.compiled.math.sums_of_rows import (
    plain_products,
    plain_squares,
    plain_sum,
    squares_of,
    sum_of,
)
from backends.numpy_backend.kernels.compiler import (
    SUMS,
    Array,
    Read1,
    Read2,
    Read3,
    Real,
    Write1,
    Write2,
    Write3,
    compiled,
    contiguous,
    empty,
)
from core.typing import Shape

MOST = 65536  # elements; more are divided among threads

# -- batches: (examples, channels, places) ---------------------------------------------------------


@compiled(fastmath=SUMS)
def _batch(
    x: Read3,
    gamma: Read1,
    beta: Read1,
    eps: Real,
    mean: Write1,
    var: Write1,
    y: Write3,
    start: int,
    stop: int,
) -> None:
    count = mean.dtype.type(x.shape[0] * x.shape[2])
    for c in range(start, stop):
        total, squares = ZERO, ZERO
        for n in range(x.shape[0]):
            total += plain_sum(x[n, c])
        m = total / count
        for n in range(x.shape[0]):
            squares += plain_squares(x[n, c], m)
        v = squares / count
        k, b = gamma[c] / np.sqrt(v + eps), beta[c]
        for n in range(x.shape[0]):
            row, out = x[n, c], y[n, c]
            for i in range(row.size):
                out[i] = (row[i] - m) * k + b
        mean[c], var[c] = m, v


@compiled(fastmath=SUMS)
def _batch_gradient(
    g: Read3,
    x: Read3,
    gamma: Read1,
    mean: Read1,
    var: Read1,
    eps: Real,
    own: int,
    ggamma: Write1,
    gbeta: Write1,
    gx: Write3,
    start: int,
    stop: int,
) -> None:
    count = mean.dtype.type(x.shape[0] * x.shape[2])
    for c in range(start, stop):
        m, d = mean[c], np.sqrt(var[c] + eps)
        total, product = ZERO, ZERO
        for n in range(x.shape[0]):
            s, p = plain_products(g[n, c], x[n, c], m)
            total += s
            product += p
        k = gamma[c] / d
        a, b = k * total / count, k * product / d / d / count
        for n in range(gx.shape[0]):
            given, row, out = g[n, c], x[n, c], gx[n, c]
            if own:
                for i in range(row.size):
                    out[i] = k * given[i] - a - b * (row[i] - m)
            else:
                for i in range(row.size):
                    out[i] = k * given[i]
        ggamma[c], gbeta[c] = product / d, total


@compiled
def _fixed(
    x: Read2,
    gamma: Read1,
    beta: Read1,
    mean: Read1,
    var: Read1,
    eps: Real,
    places: int,
    scale: Write1,
    y: Write2,
    start: int,
    stop: int,
) -> None:
    for c in range(gamma.size):
        scale[c] = gamma[c] / np.sqrt(var[c] + eps)
    for n in range(start, stop):
        row, out = x[n], y[n]
        if places == 1:
            for c in range(row.size):
                out[c] = (row[c] - mean[c]) * scale[c] + beta[c]
        else:
            for c in range(gamma.size):
                m, k, b = mean[c], scale[c], beta[c]
                some, to = row[c * places : (c + 1) * places], out[c * places : (c + 1) * places]
                for i in range(some.size):
                    to[i] = (some[i] - m) * k + b


def batch_normalization(
    x: Array, gamma: Array, beta: Array, eps: float, shape: Shape
) -> tuple[Array, Array, Array]:
    """`y`, and mean and variance of each channel of x seen in a shape of three axes."""
    y, (mean, var) = np.empty(shape, x.dtype), empty(2, gamma.size, x.dtype)
    laid, given = np.ascontiguousarray(x).reshape(shape), contiguous(gamma, beta)
    _batch(laid, *given, x.dtype.type(eps), mean, var, y, 0, gamma.size)
    return y.reshape(x.shape), mean.reshape(gamma.shape), var.reshape(gamma.shape)


def batch_normalization_gradient(
    g: Array,
    x: Array,
    gamma: Array,
    mean: Array,
    var: Array,
    eps: float,
    shape: Shape,
    wanted: bool,
    own: bool = True,
) -> tuple[Array | None, Array, Array]:
    """The gradients of x, if it is wanted, of scales and of shifts; by `own` statistics or not."""
    given, laid = [np.ascontiguousarray(a).reshape(shape) for a in (g, x)]
    gx = np.empty(shape if wanted else (0, *shape[1:]), x.dtype)
    ggamma, gbeta = empty(2, gamma.size, x.dtype)
    known = *contiguous(gamma, mean, var), x.dtype.type(eps), int(own)
    _batch_gradient(given, laid, *known, ggamma, gbeta, gx, 0, gamma.size)
    gx_ = gx.reshape(x.shape) if wanted else None
    return gx_, ggamma.reshape(gamma.shape), gbeta.reshape(gamma.shape)


def fixed_batch_normalization(f: Any, x: Array, parameters: tuple[Array, ...], shape: Shape) -> Any:
    """Normalization by a given mean and variance of each channel."""
    examples, channels, places = shape
    rows, known = np.ascontiguousarray(x).reshape(examples, -1), contiguous(*parameters)
    y, scale = np.empty(rows.shape, x.dtype), np.empty(channels, x.dtype)
    _fixed(rows, *known, x.dtype.type(f.eps), places, scale, y, 0, examples)
    return y.reshape(x.shape)


# -- groups of channels: (examples times groups, channels of a group times places) -----------------


@compiled(fastmath=SUMS)
def _group(
    x: Read2,
    gamma: Read1,
    beta: Read1,
    eps: Real,
    places: int,
    mean: Write1,
    scale: Write1,
    y: Write2,
    start: int,
    stop: int,
) -> None:
    channels = x.shape[1] // places
    for r in range(start, stop):
        row, out, first = x[r], y[r], r * channels % gamma.size
        count = row.dtype.type(row.size)
        m = sum_of(row) / count
        s = ONE / np.sqrt(squares_of(row, m) / count + eps)
        mean[r], scale[r] = m, s
        factors, shifts = gamma[first : first + channels], beta[first : first + channels]
        if places == 1:
            for c in range(channels):
                out[c] = (row[c] - m) * (s * factors[c]) + shifts[c]
            continue
        for c in range(channels):
            k, b = s * factors[c], shifts[c]
            some, to = row[c * places : (c + 1) * places], out[c * places : (c + 1) * places]
            for i in range(some.size):
                to[i] = (some[i] - m) * k + b


@compiled(fastmath=SUMS)
def _group_gradient(
    g: Read2,
    x: Read2,
    gamma: Read1,
    mean: Read1,
    scale: Read1,
    places: int,
    ggamma: Write1,
    gbeta: Write1,
    gx: Write2,
    start: int,
    stop: int,
) -> None:
    channels = x.shape[1] // places
    for c in range(gamma.size):
        ggamma[c], gbeta[c] = ZERO, ZERO
    for r in range(start, stop):
        given, row, out, first = g[r], x[r], gx[r], r * channels % gamma.size
        count, m, k = row.dtype.type(row.size), mean[r], scale[r]
        total, product = ZERO, ZERO
        last = first + channels
        factors, to_scale, to_shift = gamma[first:last], ggamma[first:last], gbeta[first:last]
        for c in range(channels):
            if places == 1:
                s, p = given[c], given[c] * (row[c] - m)
            else:
                low, high = c * places, (c + 1) * places
                s, p = plain_products(given[low:high], row[low:high], m)
            to_shift[c] += s
            to_scale[c] += p * k
            total += s * factors[c]
            product += p * factors[c]
        shift, slope = k * total / count, k * k * k * product / count
        if places == 1:
            for c in range(channels):
                out[c] = k * factors[c] * given[c] - shift - slope * (row[c] - m)
            continue
        for c in range(channels):
            low, high, factor = c * places, (c + 1) * places, k * factors[c]
            these, some, to = given[low:high], row[low:high], out[low:high]
            for i in range(some.size):
                to[i] = factor * these[i] - shift - slope * (some[i] - m)


def group_normalization(f: Any, x: Array, gamma: Array, beta: Array, places: int) -> Array:
    """`gamma * (x - mean) / sqrt(var + eps) + beta`; `mean` and the factor are kept."""
    parts = np.ascontiguousarray(x).reshape(len(x) * f.groups, -1)
    y, (mean, scale) = np.empty(parts.shape, x.dtype), empty(2, len(parts), x.dtype)
    known = *contiguous(gamma, beta), x.dtype.type(f.eps), places
    _group(parts, *known, mean, scale, y, 0, len(parts))
    f.mean, f.scale = [a.reshape(len(x), f.groups, 1) for a in (mean, scale)]
    return y.reshape(x.shape)


def group_normalization_gradient(
    f: Any, g: Array, x: Array, gamma: Array, places: int
) -> tuple[Array, Array, Array]:
    """The gradients of x, of scales and of shifts."""
    given, parts = [np.ascontiguousarray(a).reshape(len(x) * f.groups, -1) for a in (g, x)]
    gx, (ggamma, gbeta) = np.empty(parts.shape, x.dtype), empty(2, gamma.size, x.dtype)
    known = *contiguous(gamma, f.mean, f.scale), places
    _group_gradient(given, parts, *known, ggamma, gbeta, gx, 0, len(parts))
    return gx.reshape(x.shape), ggamma, gbeta
