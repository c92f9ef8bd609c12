"""Pooling to a size that is asked for, whatever the size of the maps is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, axes, choice, real
from core.arrays.windows import per_axis
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, Count
from plugins.functions.array.take import AddTaken, Take
from plugins.functions.pooling.average_pooling import average_pooling_nd
from plugins.functions.pooling.max_pooling import max_pooling_nd

Sizes = int | Sequence[int | None]


@lru_cache(256)
def windows_of(n: int, count: int) -> tuple[tuple[int, int], ...]:
    """Where windows that divide n elements evenly begin, and where they end."""
    return tuple([(i * n // count, -(-(i + 1) * n // count)) for i in range(count)])


@lru_cache(256)
def _of_one_length(n: int, count: int) -> tuple[int, tuple[int, ...]]:
    """The length of the longest window, and what is in all: shorter ones repeat their last."""
    windows = windows_of(n, count)
    longest = max([j - i for i, j in windows])
    return longest, tuple([min(i + k, j - 1) for i, j in windows for k in range(longest)])


class MeansOfShares(FunctionNode):
    """The means of so many windows that divide an axis evenly; no other element counts."""

    axis: int
    count: Count
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(-3, 3),
        settings={"axis": axes("x", nonempty=True), "count": choice(1, 2, 3, 5)},
        dims={"...": (1, 3)},
        empty=False,
    )

    def compute(self, xp, x):
        axis, windows = self.windows(x.shape)
        lengths = [j - i for i, j in windows]
        longest, places = _of_one_length(x.shape[axis], self.count)
        seen = xp.take(x, xp.asarray(places, dtype=xp.int64, device=x.device), axis=axis)
        before, after = x.shape[:axis], x.shape[axis + 1 :]
        seen = xp.reshape(seen, (*before, self.count, longest, *after))
        if min(lengths) < longest:  # shorter ones have their last element again, which counts once
            known = [[k < length for k in range(longest)] for length in lengths]
            known = xp.asarray(known, dtype=xp.bool, device=x.device)
            known = xp.reshape(known, (self.count, longest, *(1,) * len(after)))
            seen = xp.where(known, seen, xp.zeros((), dtype=x.dtype, device=x.device))
        total = xp.sum(seen, axis=axis + 1, dtype=x.dtype)
        return total / self._lengths(xp, x, axis, windows)

    def gradient(self, xp, g):
        shape = self.input_shape(0)
        axis, windows = self.windows(shape)
        g = g / self._lengths(xp, g, axis, windows)
        pairs = [(number, k) for number, (i, j) in enumerate(windows) for k in range(i, j)]
        numbers, places = (
            xp.asarray(each, dtype=xp.int64, device=g.device) for each in zip(*pairs, strict=True)
        )
        return AddTaken(axis, shape).evaluate(xp.take(g, numbers, axis=axis), places)

    def windows(self, shape: tuple[int, ...]) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The axis, counted from the front, and its windows."""
        axis = self.axis % len(shape)
        return axis, windows_of(shape[axis], self.count)

    def _lengths(self, xp: Any, like: Any, axis: int, windows: Sequence[tuple[int, int]]) -> Any:
        """How many elements windows have, to divide sums by."""
        lengths = xp.asarray([j - i for i, j in windows], dtype=like.dtype, device=like.device)
        return xp.reshape(lengths, (self.count, *(1,) * (like.ndim - axis - 1)))


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
    unevenly: Callable[[Variable, Sequence[int]], Variable],
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
        found: Variable = evenly(maps, tuple(steps))
        return found
    return unevenly(maps, counts)


def _means(x: Variable, counts: Sequence[int]) -> Variable:
    """The means of windows, along one axis after the other."""
    for axis, count in enumerate(counts, 2):
        if x.shape[axis] != count:
            x = MeansOfShares.call(x, axis, count)
    return x


def _maxima(x: Variable, counts: Sequence[int]) -> Variable:
    """The maxima of windows; shorter windows repeat their last elements."""
    ksize: list[int] = []
    for axis, count in enumerate(counts, 2):
        longest, places = _of_one_length(x.shape[axis], count)
        ksize.append(longest)
        if longest * count != x.shape[axis]:
            x = Take.call(x, x.backend.asarray(places, "int64", x.device), axis)
    return as_variable(max_pooling_nd(x, tuple(ksize)))
