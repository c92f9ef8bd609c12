"""Batch and group normalization of arrays whose places of a channel lie side by side.

They are seen as rows, one for each channel of each example. Means and sums of squares are taken of
rows first, so that each element is read from memory once, and then put together; sums are
therefore taken in another order than in the formulas.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiler import (
    SUMS,
    Array,
    Read1,
    Read2,
    Write1,
    Write2,
    compiled,
    suits,
)
from core.typing import Shape

LEAST = 32768  # elements of a part
SHORT = 8  # rows of fewer elements are left to the formula

# -- loops over rows; what belongs to a row stands at its number, or at that of its channel --------


@compiled(fastmath=SUMS)
def moments(x: Read2, mean: Write1, squares: Write1, start: int, stop: int) -> None:
    """Means of rows, and sums of squared differences from them."""
    for r in range(start, stop):
        row = x[r]
        total = ZERO
        for i in range(row.size):
            total += row[i]
        m = total / row.dtype.type(row.size)
        total = ZERO
        for i in range(row.size):
            total += (row[i] - m) * (row[i] - m)
        mean[r], squares[r] = m, total


@compiled
def affine(
    x: Read2, mean: Read1, scale: Read1, shift: Read1, y: Write2, start: int, stop: int
) -> None:
    """(x - mean) scale + shift."""
    for r in range(start, stop):
        row, out, c = x[r], y[r], r % mean.size
        m, s, b = mean[c], scale[c], shift[c]
        for i in range(row.size):
            out[i] = (row[i] - m) * s + b


@compiled(fastmath=SUMS)
def products(
    g: Read2, x: Read2, mean: Read1, total: Write1, product: Write1, start: int, stop: int
) -> None:
    """Sums of g, and of g (x - mean)."""
    for r in range(start, stop):
        given, row, m = g[r], x[r], mean[r % mean.size]
        s, p = ZERO, ZERO
        for i in range(given.size):
            s += given[i]
            p += given[i] * (row[i] - m)
        total[r], product[r] = s, p


@compiled
def combined(
    g: Read2,
    x: Read2,
    mean: Read1,
    scale: Read1,
    shift: Read1,
    slope: Read1,
    gx: Write2,
    start: int,
    stop: int,
) -> None:
    """Scale g - shift - slope (x - mean)."""
    for r in range(start, stop):
        given, row, out, c = g[r], x[r], gx[r], r % mean.size
        m, k, a, b = mean[c], scale[c], shift[c], slope[c]
        for i in range(given.size):
            out[i] = k * given[i] - a - b * (row[i] - m)


def divide(loop: Any, rows: Array, *others: Any) -> None:
    """Call a loop for parts of the rows, in threads."""
    parallel.divide(loop, len(rows), LEAST // rows.shape[1] + 1, rows, *others)


def two(rows: Array) -> tuple[Array, Array]:
    """Two results of each row."""
    return np.empty(len(rows), rows.dtype), np.empty(len(rows), rows.dtype)


# -- batch normalization ---------------------------------------------------------------------------


def _channels(shape: Shape, axis: tuple[int, ...] | None, channels: int) -> Shape | None:
    """(examples, channels, places), if statistics are over all axes but those beside them."""
    if axis is not None and axis != (0, *range(1 + channels, len(shape))):
        return None
    places = prod(shape[1 + channels :])
    return (shape[0], prod(shape[1 : 1 + channels]), places) if places >= SHORT else None


def batch_normalization(f: Any, xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """`y`, and mean and variance of each channel."""
    if not suits(x):
        return NotImplemented
    shape = _channels(x.shape, f.axis, gamma.ndim)
    if shape is None:
        return NotImplemented
    examples, channels, places = shape
    rows = np.ascontiguousarray(x).reshape(examples * channels, places)
    means, squares = two(rows)
    divide(moments, rows, means, squares)
    means = means.reshape(examples, channels)
    mean = np.mean(means, axis=0)
    apart = means - mean
    between = np.sum(apart * apart, axis=0) * x.dtype.type(places)
    within = np.sum(squares.reshape(examples, channels), axis=0)
    var = (within + between) / x.dtype.type(examples * places)
    y = _normalized(rows, mean, var + f.eps, gamma, beta)
    return y.reshape(x.shape), mean.reshape(gamma.shape), var.reshape(gamma.shape)


def _normalized(rows: Array, mean: Array, square: Array, gamma: Array, beta: Array) -> Array:
    scale = gamma.reshape(-1) / np.sqrt(square)
    y = np.empty_like(rows)
    divide(affine, rows, mean, scale, np.ascontiguousarray(beta).reshape(-1), y)
    return y


def batch_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of what comes through `y`; mean and variance are left to the formula."""
    gy, gmean, gvar = g
    x, gamma = f._sources[0].data, f._sources[1].data
    if gy is None or gmean is not None or gvar is not None or not suits(x, gy):
        return NotImplemented
    shape = _channels(x.shape, f.axis, gamma.ndim)
    if shape is None:
        return NotImplemented
    examples, channels, places = shape
    rows, given = [np.ascontiguousarray(a).reshape(-1, places) for a in (x, gy)]
    mean, var = [a.reshape(-1) for a in f.data[1:]]
    total, product = two(rows)
    divide(products, given, rows, mean, total, product)
    total, product = [np.sum(a.reshape(examples, channels), axis=0) for a in (total, product)]
    deviation = np.sqrt(var + f.eps)
    ggamma, gx = product / deviation, None
    if needs_grad & 1:
        scale = gamma.reshape(-1) / deviation
        each = scale / x.dtype.type(examples * places)
        gx = np.empty_like(rows)
        divide(combined, given, rows, mean, scale, each * total, each * ggamma / deviation, gx)
        gx = gx.reshape(x.shape)
    return (
        gx,
        ggamma.reshape(gamma.shape) if needs_grad & 2 else None,
        total.reshape(gamma.shape) if needs_grad & 4 else None,
    )


def fixed_batch_normalization(
    f: Any, xp: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any
) -> Any:
    """The formula, with its bits, in one pass."""
    if not suits(x):
        return NotImplemented
    shape = _channels(x.shape, f.axis, gamma.ndim)
    if shape is None:
        return NotImplemented
    rows = np.ascontiguousarray(x).reshape(-1, shape[2])
    mean = np.ascontiguousarray(mean).reshape(-1)
    return _normalized(rows, mean, var.reshape(-1) + f.eps, gamma, beta).reshape(x.shape)
