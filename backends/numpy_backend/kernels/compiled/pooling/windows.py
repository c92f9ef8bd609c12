"""Pooling and its gradients, in one pass over the images.

Maxima and means have the formula's bits; so have gradients, except where more than two windows
meet, whose values are summed in another order.

Windows are known by the place of their first element in an image, the rest of them by distances
from it, so that one loop does for any number of axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.products.panels import pieces
from backends.numpy_backend.kernels.compiler import (
    ROWS,
    Array,
    Indices,
    Ints,
    Ints2,
    Read2,
    Write2,
    WriteInts2,
    compiled,
    suits,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.kernels.plain import pooling as plain
from backends.numpy_backend.windows import Laid, folded, laid
from core.arrays.windows import per_axis
from core.typing import Shape, Sizes

R = TypeVar("R")

LEAST = 131072  # elements of the images in a part
CALLS = 128  # of NumPy in the formulas: from 16 elements on loops take a fifth of their time
LONG = 64  # elements of a window, of more of which NumPy takes sums faster
MANY = 16384  # elements of the images, for which that is worth its calls
LARGE = 1 << 16  # elements of an image


class _Windows(NamedTuple):
    """Windows, with their places in padded images that are seen as one axis."""

    laid: Laid
    out: Shape
    starts: Any
    """The place of each window's first element."""
    steps: Any
    """How far the elements of a window are from its first one."""
    width: int
    """Windows in a row, and how far these are apart."""
    step: int


def _flat(laid: Laid) -> _Windows:
    g = laid.geometry
    starts = _places(g.out, g.stride, laid.padded)
    steps = _places(g.ksize, (1,) * len(g.out), laid.padded)
    return _Windows(laid, g.out, starts, steps, g.out[-1], g.stride[-1])


def _places(counts: Shape, apart: Shape, size: Shape) -> Array:
    """Where so many elements along each axis, so far apart, lie in an image."""
    found: Array = np.zeros((), np.intp)
    for count, step, length in zip(counts, apart, size, strict=True):
        found = found[..., None] * length + np.arange(count, dtype=np.intp) * step
    return found.reshape(-1)


def _kept(make: Callable[..., R]) -> Callable[..., R]:
    """`make`, whose results are kept: a few of those for large images, which are as large."""
    small, large = lru_cache(64)(make), lru_cache(4)(make)

    def found(size: Shape, *sizes: Any) -> R:
        return (large if prod(size) > LARGE else small)(size, *sizes)

    return found


@_kept
def _windows(size: Shape, ksize: Sizes, stride: Sizes, padding: Sizes, cover_all: bool) -> _Windows:
    """The windows of pooling."""
    return _flat(laid(size, ksize, stride, padding, 1, cover_all))


@_kept
def _spread(shape: Shape, size: Shape, stride: Sizes, padding: Sizes) -> _Windows:
    """The windows by which `shape`, (*ksize, *out), comes of images of a size."""
    return _flat(folded((1, 1, *shape), size, stride, padding))


@emitted
def _rows(
    e: Emitter,
    x: Any,
    starts: Any,
    steps: Any,
    firsts: Any,
    y: Any,
    indexes: Any,
    plane: Any,
    windows: Any,
    taps: Any,
    width: Any,
    step: Any,
    low: Any,
    high: Any,
) -> None:
    from llvmlite import ir

    b = e.builder

    def elements(row: Any, first: Any, lanes: int) -> Any:
        """So many elements, `step` apart."""
        found = e.variable(e.load(e.at(row, first), lanes))
        with e.whether(step <= 2) as (near, far):
            with near, e.when(step.equals(2)):
                more = e.load(e.at(row, first + (lanes - 1)), lanes)  # none beyond the last
                of_both = [i if i < lanes else i + 1 for i in range(0, 2 * lanes, 2)]
                found.set(e.shuffle(found.get(), more, of_both))
            with far:
                for i in range(lanes):
                    place, one = ir.Constant(ir.IntType(32), i), e.at(row, first + step * i)
                    found.set(b.insert_element(found.get(), e.read(one), place))
        return found.get()

    with e.loop(high, 1, low) as image, e.loop(windows, width) as o:
        row, out = e.at(x, image * plane), image * windows + o
        [first] = e.numbers(e.at(starts, o), 1)
        for i, lanes in pieces(e, width):
            several = ir.VectorType(ir.IntType(32), lanes).as_pointer()
            known = b.load(b.bitcast(e.at(firsts, o + i), several))
            known.align = 4
            top, place = e.variable(elements(row, first + i * step, lanes)), e.variable(known)
            with e.loop(taps, 1, 1) as k:
                [further] = e.numbers(e.at(steps, k), 1)
                value, v = elements(row, first + further + i * step, lanes), top.get()
                # A greater one, or the first NaN, which keeps its place.
                wins = b.and_(b.fcmp_unordered(">", value, v), b.fcmp_ordered("==", v, v))
                number = e.broadcast(b.trunc(k.value, ir.IntType(32)), lanes)
                top.set(b.select(wins, value, v))
                place.set(b.select(wins, number, place.get()))
            e.store(top.get(), e.at(y, out + i))
            to = b.bitcast(e.at(indexes, out + i), several)
            b.store(place.get(), to).align = 4


@compiled
def _greatest(
    x: Read2,
    starts: Indices,
    steps: Indices,
    width: int,
    step: int,
    firsts: Ints,
    y: Write2,
    indexes: WriteInts2,
    start: int,
    stop: int,
) -> None:
    """The greatest element of each window, and its place in it, or the first inside the image.

    Windows stand in rows of `width`, in which their first elements are `step` apart.
    """
    plane, windows, taps = x.shape[1], y.shape[1], steps.size
    _rows(x, starts, steps, firsts, y, indexes, plane, windows, taps, width, step, start, stop)


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


def _divide(loop: Any, images: Array, *others: Any) -> None:
    parallel.divide(loop, len(images), -(-LEAST // images.shape[1]), images, *others)


def _around(x: Array, w: _Windows, value: float) -> Array:
    """Images with their padding."""
    return np.ascontiguousarray(w.laid.around(x, value))


def max_pooling(f: Any, xp: Any, x: Any) -> Any:
    """The maximum of each window; the number of the first place that attains it in `indexes`."""
    run = _maxima(f, x)
    if run is None:
        return plain.max_pooling(f, xp, x)
    y, f.indexes = run(x)
    return y


def _maxima(f: Any, x: Any) -> Callable[[Array], tuple[Array, Array]] | None:
    """What gives maxima, and their places, of images like these; None where they are few."""
    if not suits(x, calls=CALLS):
        return None
    (images, channels, *size), settings = x.shape, (f.ksize, f.stride, f.pad, f.cover_all)
    return _maxima_of(tuple(size), images, channels, x.dtype, *settings)


@_kept
def _maxima_of(
    size: Shape, images: int, channels: int, dtype: Any, *settings: Any
) -> Callable[[Array], tuple[Array, Array]]:
    w = _windows(size, *settings)
    shape, maps = (images, channels, *w.out), (images * channels, -1)
    firsts = w.laid.firsts.reshape(-1)
    known = w.starts, w.steps, w.width, w.step, firsts
    least = -(-LEAST // prod(w.laid.padded))

    def run(x: Array) -> tuple[Array, Array]:
        y, indexes = np.empty(shape, dtype), np.empty(shape, np.int32)
        padded, values = _around(x, w, -np.inf).reshape(maps), y.reshape(maps)
        parallel.divide(_greatest, maps[0], least, padded, *known, values, indexes.reshape(maps))
        return y, indexes

    return run


max_pooling.bound = _maxima  # type: ignore[attr-defined]


def max_pooling_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Each value of `g` added where its window's maximum was."""
    gx = _where_maxima_were(f, g, f.indexes, f._sources[0].spec.shape[2:])
    return NotImplemented if gx is None else (gx,)


def spread_maxima(f: Any, xp: Any, g: Any) -> Any:
    """The same as an operation of its own."""
    indexes = getattr(f.indexes, "array", f.indexes)
    gx = _where_maxima_were(f, g, indexes, f.size)
    return plain.max_pooling_gradient(f, xp, g) if gx is None else gx


def _where_maxima_were(f: Any, g: Array, indexes: Array, size: Shape) -> Array | None:
    if indexes.dtype != np.int32 or indexes.shape != g.shape:
        return None
    w = _spread_of(f, g, size)
    if w is None:
        return None
    gx = np.zeros((*g.shape[:2], *w.laid.padded), g.dtype)
    images = (g.shape[0] * g.shape[1], -1)
    g, indexes, flat = [np.ascontiguousarray(a).reshape(images) for a in (g, indexes, gx)]
    _divide(_scatter, g, indexes, w.starts, w.steps, flat)
    return w.laid.without(gx)


def _spread_of(f: Any, g: Array, size: Shape) -> _Windows | None:
    """Windows of which `g` has a value each; None where these are few, of few elements."""
    ksize = per_axis(f.ksize, g.ndim - 2, "ksize")
    if not suits(g, calls=CALLS * prod(ksize)):
        return None
    return _spread((*ksize, *g.shape[2:]), size, f.stride, f.pad)


def average_pooling(f: Any, xp: Any, x: Any) -> Any:
    """The mean of each window, if they are not few large ones, which NumPy sums faster."""
    if not suits(x, calls=CALLS):
        return NotImplemented
    w = _windows(x.shape[2:], f.ksize, f.stride, f.pad, f.cover_all)
    long = w.steps.size > max(w.starts.size, LONG)
    if long and (x.size >= MANY or w.steps.size > ROWS):
        return NotImplemented
    y = np.empty((*x.shape[:2], *w.out), x.dtype)
    images = (x.shape[0] * x.shape[1], -1)
    x = _around(x, w, 0.0).reshape(images)
    _divide(_means, x, w.starts, w.steps, y.reshape(images))
    return y


def average_pooling_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Each value of `g` divided by the size of windows, added at every place of its window."""
    gx = _evenly(f, g, f._sources[0].spec.shape[2:])
    return NotImplemented if gx is NotImplemented else (gx,)


def spread_evenly(f: Any, xp: Any, g: Any) -> Any:
    """The same as an operation of its own."""
    return _evenly(f, g, f.size)


def _evenly(f: Any, g: Array, size: Shape) -> Any:
    w = _spread_of(f, g, size)
    if w is None:
        return NotImplemented
    gx = np.zeros((*g.shape[:2], *w.laid.padded), g.dtype)
    images = (g.shape[0] * g.shape[1], -1)
    flat = gx.reshape(images)
    _divide(_spread_evenly, np.ascontiguousarray(g).reshape(images), w.starts, w.steps, flat)
    return w.laid.without(gx)
