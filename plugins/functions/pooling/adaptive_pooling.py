"""Pooling to a size that is asked for, whatever the size of the maps is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core import Variable, as_variable
from core.arrays.windows import per_axis
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.axis_order import moveaxis
from plugins.functions.array.concat import Concat
from plugins.functions.math.matmul import matmul
from plugins.functions.pooling.average_pooling import average_pooling_nd
from plugins.functions.pooling.max_pooling import max_pooling_nd

Sizes = int | Sequence[int | None]


@checked
def adaptive_average_pooling_nd(x: Array, outsize: Sizes) -> Variable:
    """The means of windows that divide maps evenly into as many as asked for.

    Window i of o, along an axis of n elements, has those from floor(i n / o) up to
    ceil((i + 1) n / o): windows overlap where o does not divide n.

    Args:
        x: Floating, (n, c, *spatial), of one spatial axis or more.
        outsize: How many windows along each spatial axis; None for as many as elements.

    Returns:
        (n, c, *outsize), of the dtype of `x`.

    Raises:
        InvalidType: `x` has no spatial axis, or one without elements.
        ValueError: `outsize` is not one number of at least 1 for each spatial axis, or for all.

    >>> import core.functions as F, numpy as np
    >>> F.adaptive_average_pooling_nd(np.array([[[1, 2, 3, 4, 5]]], "f"), 2)
    variable([[[2., 4.]]], dtype=float32)
    """
    return _pooled("adaptive_average_pooling_nd", x, outsize, average_pooling_nd, _means)


@checked
def adaptive_max_pooling_nd(x: Array, outsize: Sizes) -> Variable:
    """The maxima of windows that divide maps evenly into as many as asked for.

    Window i of o, along an axis of n elements, has those from floor(i n / o) up to
    ceil((i + 1) n / o): windows overlap where o does not divide n.

    Args:
        x: Floating, (n, c, *spatial), of one spatial axis or more.
        outsize: How many windows along each spatial axis; None for as many as elements.

    Returns:
        (n, c, *outsize), of the dtype of `x`. Of equal maxima one has the gradient.

    Raises:
        InvalidType: `x` has no spatial axis, or one without elements.
        ValueError: `outsize` is not one number of at least 1 for each spatial axis, or for all.

    >>> import core.functions as F, numpy as np
    >>> F.adaptive_max_pooling_nd(np.array([[[1, 2, 3, 4, 5]]], "f"), 2)
    variable([[[3., 5.]]], dtype=float32)
    """
    return _pooled("adaptive_max_pooling_nd", x, outsize, max_pooling_nd, _maxima)


def _pooled(
    name: str,
    x: Array,
    outsize: Sizes,
    evenly: Callable[..., Any],
    along: Callable[[Variable, int, list[tuple[int, int]]], Variable],
) -> Variable:
    maps = as_variable(x)
    sizes = maps.shape[2:]
    if not sizes or 0 in sizes:
        raise InvalidType(f"{name}: x.shape == (n, c, *spatial), none of them 0", f"{maps.shape}")
    given = [outsize] * len(sizes) if isinstance(outsize, int) else list(outsize)
    if len(given) == len(sizes):
        given = [n if o is None else o for n, o in zip(sizes, given, strict=True)]
    counts = per_axis([o or 0 for o in given], len(sizes), f"{name}: outsize")
    if min(counts) < 1:
        raise ValueError(f"{name}: expected an outsize of at least 1, got {outsize}.")
    steps = [n // o for n, o in zip(sizes, counts, strict=True)]
    if all([n == o * k for n, o, k in zip(sizes, counts, steps, strict=True)]):
        found: Variable = evenly(maps, steps)
        return found
    for axis, (n, o) in enumerate(zip(sizes, counts, strict=True), 2):
        if n != o:
            windows = [(i * n // o, -(-(i + 1) * n // o)) for i in range(o)]
            maps = along(maps, axis, windows)
    return maps


def _means(x: Variable, axis: int, windows: list[tuple[int, int]]) -> Variable:
    """By a product with a matrix that has the share of each element in each window."""
    n = x.shape[axis]
    shares = [[(i <= k < j) / (j - i) for i, j in windows] for k in range(n)]
    matrix = x.backend.asarray(shares, x.dtype, x.device)
    return moveaxis(matmul(moveaxis(x, axis, -1), matrix), -1, axis)


def _maxima(x: Variable, axis: int, windows: list[tuple[int, int]]) -> Variable:
    before, ones = (slice(None),) * axis, [1] * (x.ndim - 2)
    found: list[Any] = []
    for i, j in windows:
        ksize = [*ones[: axis - 2], j - i, *ones[axis - 1 :]]
        found.append(max_pooling_nd(x[(*before, slice(i, j))], ksize))
    return Concat.call(*found, axis=axis)
