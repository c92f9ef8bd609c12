"""Pooling and its gradients, in one pass over the images.

Maxima and means have the formula's bits; so have gradients, except where more than two windows
meet, whose values are summed in another order.

Windows are known by the place of their first element in an image, the rest of them by distances
from it, so that one loop does for any number of axes.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Array,
    ByType,
    Indices,
    Ints2,
    Read2,
    Read3,
    Write2,
    WriteInts2,
    compiled,
    inlined,
    suits,
)
from backends.numpy_backend.kernels.plain import pooling as plain
from core.arrays.windows import Geometry, pad, per_axis, unfolded
from core.typing import Shape, Sizes

LEAST = 131072  # elements of the images in a part

_FIRST, _SECOND, _THIRD, _FOURTH = [ByType(np.int32(i), np.int32(i)) for i in range(4)]


class _Windows(NamedTuple):
    """Where windows lie on images with their padding."""

    out: Shape
    widths: list[tuple[int, int]]
    padded: Shape
    inside: tuple[Any, ...]
    starts: Any
    """The place of each window's first element."""
    steps: Any
    """How far the elements of a window are from its first one."""
    halves: bool
    """Whether windows of two by two divide the images, without padding."""


def _laid(geometry: Geometry) -> _Windows:
    """The same windows as places in padded images of one axis."""
    padded = geometry.padded_size()
    places = np.arange(np.prod(padded, dtype=np.intp)).reshape(padded)
    starts = places[
        tuple(
            [
                slice(0, (o - 1) * s + 1, s)
                for o, s in zip(geometry.out, geometry.stride, strict=True)
            ]
        )
    ]
    steps = places[tuple([slice(k) for k in geometry.ksize])]
    pairs = (2,) * 2
    halves = geometry.ksize == geometry.stride == pairs and not any(map(any, geometry.widths()))
    halves = halves and not any([n % 2 for n in geometry.size])
    return _Windows(
        geometry.out,
        [(0, 0), (0, 0), *geometry.widths()],
        padded,
        (..., *geometry.inside()),
        np.ascontiguousarray(starts).reshape(-1),
        np.ascontiguousarray(steps).reshape(-1),
        halves,
    )


@lru_cache(64)
def _windows(size: Shape, ksize: Sizes, stride: Sizes, padding: Sizes, cover_all: bool) -> _Windows:
    """Those of pooling."""
    return _laid(Geometry(size, ksize, stride, padding, 1, cover_all).checked())


@lru_cache(64)
def _spread(shape: Shape, size: Shape, stride: Sizes, padding: Sizes) -> _Windows:
    """Those which make `shape`, (*ksize, *out), of images of a size."""
    return _laid(unfolded((1, 1, *shape), size, stride, padding, 1))


@inlined
def _wins(e: Any, v: Any) -> Any:
    """Whether an element takes the place of the greatest one so far; the first NaN keeps it."""
    return (not e <= v) & (v == v)


@compiled
def _greatest(
    x: Read2, starts: Indices, steps: Indices, y: Write2, indexes: WriteInts2, start: int, stop: int
) -> None:
    for image in range(start, stop):
        row, out, found = x[image], y[image], indexes[image]
        for o in range(out.size):
            v, place = row[np.uint64(starts[o])], np.int32(0)
            for k in range(1, steps.size):
                e = row[np.uint64(starts[o] + steps[k])]
                wins = _wins(e, v)
                v = e if wins else v
                place = np.int32(k) if wins else place
            out[o], found[o] = v, place


@compiled
def _greatest_of_four(x: Read3, y: Write2, indexes: WriteInts2, start: int, stop: int) -> None:
    for row in range(start, stop):
        above, below, out, found = x[row, 0], x[row, 1], y[row], indexes[row]
        for q in range(out.size):
            v, place = above[2 * q], _FIRST
            e = above[2 * q + 1]
            wins = _wins(e, v)
            v, place = e if wins else v, _SECOND if wins else place
            e = below[2 * q]
            wins = _wins(e, v)
            v, place = e if wins else v, _THIRD if wins else place
            e = below[2 * q + 1]
            wins = _wins(e, v)
            out[q], found[q] = e if wins else v, _FOURTH if wins else place


@compiled
def _scatter(
    g: Read2, indexes: Ints2, starts: Indices, steps: Indices, gx: Write2, start: int, stop: int
) -> None:
    known = np.uint64(steps.size)
    for image in range(start, stop):
        row, given, places = gx[image], g[image], indexes[image]
        for o in range(given.size):
            place = np.uint64(places[o])
            if place < known:
                row[np.uint64(starts[o] + steps[place])] += given[o]


@compiled
def _means(x: Read2, starts: Indices, steps: Indices, y: Write2, start: int, stop: int) -> None:
    for image in range(start, stop):
        row, out = x[image], y[image]
        count = row.dtype.type(steps.size)
        for o in range(out.size):
            total = row[np.uint64(starts[o])]
            for k in range(1, steps.size):
                total += row[np.uint64(starts[o] + steps[k])]
            out[o] = total / count


@compiled
def _spread_evenly(
    g: Read2, starts: Indices, steps: Indices, gx: Write2, start: int, stop: int
) -> None:
    for image in range(start, stop):
        row, given = gx[image], g[image]
        count = row.dtype.type(steps.size)
        for o in range(given.size):
            share = given[o] / count
            for k in range(steps.size):
                row[np.uint64(starts[o] + steps[k])] += share


def _divide(loop: Any, images: Array, *others: Array) -> None:
    parallel.divide(loop, len(images), -(-LEAST // images.shape[1]), images, *others)


def max_pooling(f: Any, xp: Any, x: Any) -> Any:
    """The maximum of each window; the number of the first place that attains it in `indexes`."""
    if not suits(x):
        return plain.max_pooling(f, xp, x)
    w = _windows(x.shape[2:], f.ksize, f.stride, f.pad, f.cover_all)
    y = np.empty((*x.shape[:2], *w.out), x.dtype)
    indexes = np.empty(y.shape, np.int32)
    x = np.ascontiguousarray(pad(np, x, w.widths, -np.inf))
    if w.halves:
        lines = (-1, y.shape[-1])
        x, values, places = x.reshape(-1, 2, x.shape[-1]), y.reshape(lines), indexes.reshape(lines)
        least = -(-LEAST // x[0].size)
        parallel.divide(_greatest_of_four, len(x), least, x, values, places)
    else:
        images = (x.shape[0] * x.shape[1], -1)
        x, values, places = x.reshape(images), y.reshape(images), indexes.reshape(images)
        _divide(_greatest, x, w.starts, w.steps, values, places)
    f.indexes = indexes
    return y


def max_pooling_gradient(f: Any, xp: Any, g: Any) -> Any:
    """Each value of `g` added where its window's maximum was."""
    indexes = getattr(f.indexes, "array", f.indexes)
    if not suits(g) or indexes.dtype != np.int32 or indexes.shape != g.shape:
        return plain.max_pooling_gradient(f, xp, g)
    ksize = per_axis(f.ksize, g.ndim - 2, "ksize")
    w = _spread((*ksize, *g.shape[2:]), tuple(f.size), f.stride, f.pad)
    gx = np.zeros((*g.shape[:2], *w.padded), g.dtype)
    images = (g.shape[0] * g.shape[1], -1)
    g, indexes, flat = [np.ascontiguousarray(a).reshape(images) for a in (g, indexes, gx)]
    _divide(_scatter, g, indexes, w.starts, w.steps, flat)
    return gx[w.inside]


def average_pooling(f: Any, xp: Any, x: Any) -> Any:
    """The mean of each window, if they are not few large ones, which NumPy sums faster."""
    if not suits(x):
        return NotImplemented
    w = _windows(x.shape[2:], f.ksize, f.stride, f.pad, f.cover_all)
    if w.steps.size > w.starts.size:
        return NotImplemented
    y = np.empty((*x.shape[:2], *w.out), x.dtype)
    images = (x.shape[0] * x.shape[1], -1)
    x = np.ascontiguousarray(pad(np, x, w.widths, 0.0)).reshape(images)
    _divide(_means, x, w.starts, w.steps, y.reshape(images))
    return y


def average_pooling_gradient(f: Any, xp: Any, g: Any) -> Any:
    """Each value of `g` divided by the size of windows, added at every place of its window."""
    ksize = per_axis(f.ksize, g.ndim - 2, "ksize")
    if not suits(g, calls=prod(ksize)):
        return NotImplemented
    w = _spread((*ksize, *g.shape[2:]), tuple(f.size), f.stride, f.pad)
    gx = np.zeros((*g.shape[:2], *w.padded), g.dtype)
    images = (g.shape[0] * g.shape[1], -1)
    flat = gx.reshape(images)
    _divide(_spread_evenly, np.ascontiguousarray(g).reshape(images), w.starts, w.steps, flat)
    return gx[w.inside]
