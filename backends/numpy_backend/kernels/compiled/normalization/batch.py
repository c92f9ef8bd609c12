"""Batch normalization, and what group normalization shares with it.

Arrays whose places of a channel lie side by side are seen as rows, one for each channel of each
example. Means and sums of squares are taken of rows first, so that each element is read from memory
once, and then put together; sums are therefore taken in another order than in the formulas.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import formulas
from backends.numpy_backend.kernels.compiled.math.sums_of_rows import (
    products_of,
    squares_of,
    sum_of,
)
from backends.numpy_backend.kernels.compiled.normalization import columns, few_statistics
from backends.numpy_backend.kernels.compiler import (
    ROWS,
    SUMS,
    Array,
    Read1,
    Read2,
    Write1,
    Write2,
    compiled,
    contiguous,
    suits,
)
from backends.numpy_backend.sums import total
from core.typing import Shape

LEAST = 65536  # elements of a part
CALLS = 32  # of NumPy in the formulas, which from 64 elements on take longer than loops by far
SHORT = 2  # rows of fewer elements are left to the formula


def are_few(x: Array, of_each: int) -> bool:
    """Whether one loop computes all of it, each statistic of not too many elements."""
    return x.size < few_statistics.MOST and of_each <= ROWS


# -- loops over rows; what belongs to a row stands at its number, or at that of its channel --------


@compiled(fastmath=SUMS)
def moments(x: Read2, mean: Write1, squares: Write1, start: int, stop: int) -> None:
    """Means of rows, and sums of squared differences from them."""
    for r in range(start, stop):
        row = x[r]
        m = sum_of(row) / row.dtype.type(row.size)
        mean[r], squares[r] = m, squares_of(row, m)


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
        total[r], product[r] = products_of(g[r], x[r], mean[r % mean.size])


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
    parallel.divide(loop, len(rows), -(-LEAST // rows.shape[1]), rows, *others)


def two(rows: Array) -> tuple[Array, Array]:
    """Two results of each row."""
    return np.empty(len(rows), rows.dtype), np.empty(len(rows), rows.dtype)


# -- batch normalization ---------------------------------------------------------------------------


def _shape(f: Any, x: Array, *parameters: Array) -> Shape | None:
    """The shape of x as (examples, channels, places); channels side by side have 1 place."""
    return _shape_of(x.shape, f.axis, *[a.shape for a in parameters])


@lru_cache(1024)
def _shape_of(x: Shape, axis: tuple[int, ...] | None, *parameters: Shape) -> Shape | None:
    of_each = len(parameters[0])
    reduced = (0, *range(1 + of_each, len(x))) if axis is None else axis
    channels = tuple([size for i, size in enumerate(x) if i not in reduced])
    if any([shape != channels for shape in parameters]):
        return None
    if reduced == tuple(range(len(reduced))):
        return (prod(x) // prod(channels), prod(channels), 1)
    places = prod(x[1 + of_each :])
    if reduced != (0, *range(1 + of_each, len(x))) or places < SHORT:
        return None
    return (x[0], prod(channels), places)


def batch_normalization(f: Any, xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """`y`, and mean and variance of each channel."""
    shape = _shape(f, x, gamma, beta) if suits(x, calls=CALLS) else None
    if shape is None:
        return NotImplemented
    examples, channels, places = shape
    if places == 1:
        return columns.batch_normalization(x, gamma, beta, f.eps)
    if are_few(x, examples * places):
        return few_statistics.batch_normalization(x, gamma, beta, f.eps, shape)
    rows = np.ascontiguousarray(x).reshape(-1, places)
    means, squares = two(rows)
    divide(moments, rows, means, squares)
    means = means.reshape(examples, channels)
    mean = total(means, 0) / x.dtype.type(examples)
    apart = means - mean
    between = total(apart * apart, 0) * x.dtype.type(places)
    within = total(squares.reshape(examples, channels), 0)
    var = (within + between) / x.dtype.type(examples * places)
    y = _normalized(rows, mean, var + f.eps, gamma, beta)
    return y.reshape(x.shape), mean.reshape(gamma.shape), var.reshape(gamma.shape)


def _normalized(rows: Array, mean: Array, square: Array, gamma: Array, beta: Array) -> Array:
    scale = gamma.reshape(-1) / np.sqrt(square)
    y = np.empty_like(rows)
    divide(affine, rows, mean, scale, *contiguous(beta), y)
    return y


def batch_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of what comes through `y`; mean and variance are left to the formula."""
    gy, gmean, gvar = g
    x, gamma = f._sources[0].data, f._sources[1].data
    if gy is None or gmean is not None or gvar is not None or not suits(x, gy, calls=CALLS):
        return NotImplemented
    shape = _shape(f, x, gamma)
    if shape is None:
        return NotImplemented
    (mean, var), wanted = f.data[1:], needs_grad & 1 != 0
    found: tuple[Array | None, ...]
    if shape[2] == 1:
        deviation = np.sqrt(var + f.eps)
        found = columns.batch_normalization_gradient(gy, x, gamma, mean, deviation, wanted)
    elif are_few(x, shape[0] * shape[2]):
        found = few_statistics.batch_normalization_gradient(
            gy, x, gamma, mean, var, f.eps, shape, wanted
        )
    else:
        found = _gradients(gy, x, gamma, mean, np.sqrt(var + f.eps), shape, wanted)
    return tuple([a if needs_grad >> i & 1 else None for i, a in enumerate(found)])


def _gradients(
    g: Array, x: Array, gamma: Array, mean: Array, deviation: Array, shape: Shape, wanted: bool
) -> tuple[Array | None, Array, Array]:
    examples, channels, places = shape
    given, rows = [np.ascontiguousarray(a).reshape(-1, places) for a in (g, x)]
    mean, deviation, gamma_ = [a.reshape(-1) for a in (mean, deviation, gamma)]
    sums = two(rows)
    divide(products, given, rows, mean, *sums)
    plain, product = [total(a.reshape(examples, channels), 0) for a in sums]
    ggamma, gx = product / deviation, None
    if wanted:
        scale = gamma_ / deviation
        each = scale / x.dtype.type(examples * places)
        gx = np.empty_like(rows)
        divide(combined, given, rows, mean, scale, each * plain, each * ggamma / deviation, gx)
        gx = gx.reshape(x.shape)
    return gx, ggamma.reshape(gamma.shape), plain.reshape(gamma.shape)


def fixed_batch_normalization(
    f: Any, xp: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any
) -> Any:
    """The formula, with its bits, in one pass."""
    shape = _shape(f, x, gamma, beta, mean, var) if suits(x, calls=CALLS) else None
    if shape is not None and x.size < few_statistics.MOST:
        return few_statistics.fixed_batch_normalization(f, x, (gamma, beta, mean, var), shape)
    if shape is None:
        return NotImplemented
    if shape[2] == 1:
        return columns.affine(x, mean, gamma / np.sqrt(var + f.eps), beta)
    rows = np.ascontiguousarray(x).reshape(-1, shape[2])
    (mean,) = contiguous(mean)
    return _normalized(rows, mean, var.reshape(-1) + f.eps, gamma, beta).reshape(x.shape)


def fixed_batch_normalization_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """All five gradients: of few elements from the sums of channels, else from the formulas."""
    x, gamma, mean, var = [f._sources[i].data for i in (0, 1, 3, 4)]
    if not suits(x, g, calls=CALLS):
        return NotImplemented
    shape, wanted = _shape(f, x, gamma, mean, var), needs_grad & 1 != 0
    if shape is None or not are_few(x, shape[0] * shape[2]):
        return formulas.gradient(f, g, needs_grad) if x.size >= formulas.LEAST else NotImplemented
    square, gx = var + f.eps, None
    scale = gamma / np.sqrt(square)
    if shape[2] == 1:
        _, ggamma, gbeta = columns.batch_normalization_gradient(
            g, x, gamma, mean, np.sqrt(square), False
        )
        gx = g * scale if wanted else None
    else:
        gx, ggamma, gbeta = few_statistics.batch_normalization_gradient(
            g, x, gamma, mean, var, f.eps, shape, wanted, own=False
        )
    gmean = -(gbeta * scale) if needs_grad & 8 else None
    gvar = ggamma * gamma / square * -0.5 if needs_grad & 16 else None
    found = gx, ggamma, gbeta, gmean, gvar
    return tuple([a if needs_grad >> i & 1 else None for i, a in enumerate(found)])
