"""Convolution, deconvolution and the gradient of their filters: which loops compute them.

Channels each by themselves have loops of their own, and so have windows of three by three over
many channels; everything else are products of panels.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled import depthwise, few_places, winograd
from backends.numpy_backend.kernels.compiled.convolution_loops import (
    convolve,
    correlate,
    spread,
)
from backends.numpy_backend.kernels.compiled.convolution_plans import (
    BAND,
    Plan,
    axes_of,
    biases_of,
    is_small,
    parts,
    parts_at_most,
    plan_of,
    scratch,
)
from backends.numpy_backend.kernels.compiled.panels import LANE_BYTES
from backends.numpy_backend.kernels.compiler import contiguous
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry, unfolded

BLOCK = 960  # lanes of a panel of which the filters' gradient takes the sum
BLOCK_ROWS = 160  # and its rows, with which it fills half of a second-level cache


def convolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """What `Convolution.compute` gives."""
    g = _geometry(x.shape[2:], W.shape[2:], f.stride, f.pad, f.dilate, f.cover_all)
    fit = x.shape[1] == f.groups * W.shape[1] and (b is None or b.shape == W.shape[:1])
    if not fit or not _suit(len(x) * W.size * prod(g.out), x, W, b):
        return NotImplemented
    y = np.empty((len(x), W.shape[0], *g.out), x.dtype)
    filters, channels = W.shape[0] // f.groups, W.shape[1]
    if depthwise.suits(channels, filters):
        depthwise.convolution(g, x, W, b, y)
    elif few_places.suits(g, f.groups, len(x)):
        few_places.convolution(g, x, W, b, y)
    elif winograd.suits(g, f.groups, y, channels, filters):
        winograd.convolution(x, W, b, y, g.pad)
    else:
        lanes = LANE_BYTES // x.itemsize
        plan = plan_of(axes_of(g), f.groups, channels, filters, lanes, BAND // x.itemsize)
        _convolve(plan, x, W, b, y, plan.sizes.rows, 1)
    return y


def deconvolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """What `Deconvolution.compute` gives."""
    fit = x.shape[1] == len(W) and (b is None or b.shape == (f.groups * W.shape[1],))
    if not fit or not _suit(len(x) * W.size * prod(x.shape[2:]), x, W, b):
        return NotImplemented
    size = f.spread(x.shape[2:], W.shape[2:])
    g = _unfolded((1, 1, *W.shape[2:], *x.shape[2:]), size, f.stride, f.pad, f.dilate)
    filters, channels = W.shape[0] // f.groups, W.shape[1]
    y = np.empty((len(x), channels * f.groups, *size), x.dtype)
    lanes = LANE_BYTES // x.itemsize
    if depthwise.suits(channels, filters):
        depthwise.deconvolution(g, x, W, b, y)
    elif few_places.suits(g, f.groups, len(x)):
        few_places.convolution(g, x, W, b, y, back=True)
    elif winograd.suits(g, f.groups, x, channels, filters) and max(g.pad) < 3:
        winograd.convolution(x, W, b, y, tuple([2 - p for p in g.pad]), turned=True)
    elif x.shape[2:] == size and prod(g.ksize) == 1 and not any(g.pad):
        plan = plan_of(axes_of(g), f.groups, filters, channels, lanes, BAND // x.itemsize)
        _convolve(plan, x, W, b, y, 1, channels)
    else:
        _spread(plan_of(axes_of(g), f.groups, channels, filters, lanes, 0), x, W, b, y)
    return y


def filter_gradient(f: Any, xp: Any, x: Any, y: Any) -> Any:
    """What `ConvolutionFilterGradient.compute` gives."""
    filters, channels = y.shape[1] // f.groups, x.shape[1] // f.groups
    if not _suit(y.size * channels * prod(f.ksize), x, y):
        return NotImplemented
    g = _geometry(x.shape[2:], f.ksize, f.stride, f.pad, f.dilate, f.cover_all)
    if winograd.suits(g, f.groups, y, channels, filters, summed=True):
        return winograd.filter_gradient(x, y, g.pad)
    if few_places.suits_sums(g, f.groups, len(x), channels):
        return few_places.filter_gradient(g, x, y)
    W = np.zeros((y.shape[1], channels, *f.ksize), x.dtype)
    if depthwise.suits(channels, filters):
        depthwise.filter_gradient(g, x, y, W)
    else:
        plan = plan_of(axes_of(g), f.groups, channels, filters, BLOCK, BAND // x.itemsize)
        _correlate(plan, x, y, W)
    return W


@lru_cache(maxsize=1024)
def _geometry(*sizes: Any) -> Geometry:
    return Geometry(*sizes).checked()


_unfolded = lru_cache(maxsize=1024)(unfolded)


def _suit(products: int, x: Array, *others: Array | None) -> bool:
    """Whether there is much to compute, from floats of one dtype on one to three axes."""
    return (
        products > 8 * compiler.SMALL
        and x.dtype in compiler.FLOATS
        and 3 <= x.ndim <= 5
        and all([a is None or a.dtype == x.dtype for a in others])
    )


def _convolve(
    plan: Plan, x: Array, W: Array, b: Array | None, y: Array, row: int, column: int
) -> None:
    """`y`, from filters that lie in `W` with these strides."""
    s, dtype = plan.sizes, x.dtype
    biases, bias = biases_of(b, dtype)
    arrays = [*contiguous(x, W), biases, y.reshape(-1)]
    places = len(x) * s.places
    many = parts_at_most(y.size * s.rows)
    spans, ranges = [(0, places)], [(0, s.filters)]
    if places >= 2 * many * s.lanes:
        spans = parts(places, s.lanes, many)
    else:
        ranges = parts(s.filters, 8, many)

    most = max([high - low for low, high in ranges])
    panels = (
        scratch("room", s.channels * s.plane, dtype),
        scratch("inputs", s.rows * s.lanes, dtype),
        scratch("outputs", (most + 8) * s.lanes, dtype),
    )
    known = (*arrays, *panels, plan.offsets, plan.numbers, row, column, bias)
    parallel.each(
        convolve,
        [(*known, *r, *s, 0) for r in ranges for s in spans],
        small=is_small(y.size * s.rows),
    )


def _spread(plan: Plan, x: Array, W: Array, b: Array | None, y: Array) -> None:
    """`y`, images of it at a time, or channels where images are few."""
    s, dtype = plan.sizes, x.dtype
    biases, bias = biases_of(b, dtype)
    arrays = [*contiguous(x, W), biases, np.zeros(1, dtype), y.reshape(-1)]
    many = parts_at_most(x.size * s.rows)
    spans, ranges = [(0, len(x) * s.places)], [(0, s.channels)]
    if len(x) >= many:
        spans = parts(len(x) * s.places, s.places, many)
    else:
        ranges = parts(s.channels, 1, many)

    most = max([high - low for low, high in ranges])
    panels = (
        scratch("room", most * s.plane, dtype),
        scratch("inputs", (most * s.taps + 8) * s.lanes, dtype),
        scratch("outputs", s.filters * s.lanes, dtype),
    )
    known = (*arrays, *panels, plan.offsets, plan.numbers, bias)
    parallel.each(
        spread,
        [(*known, *r, *s, 0) for r in ranges for s in spans],
        small=is_small(x.size * s.rows),
    )


def _correlate(plan: Plan, x: Array, y: Array, W: Array) -> None:
    """`W`, channels of it at a time, and as sums over parts of the places where they are few."""
    s, dtype = plan.sizes, x.dtype
    many = parts_at_most(y.size * s.rows)
    chunks = -(-s.channels // max(1, BLOCK_ROWS // s.taps))
    if s.rows >= 24 * many:
        chunks = max(chunks, min(many, s.channels))
    ranges = [(group, *r) for group in range(s.groups) for r in parts(s.channels, 1, chunks)]
    spans = parts(len(x) * s.places, s.lanes, max(1, many // len(ranges)))
    sums = [W.reshape(-1), *[np.zeros(W.size, dtype) for _ in spans[1:]]]
    most = max([high - low for _, low, high in ranges])
    panels = (
        scratch("room", most * s.plane, dtype),
        scratch("inputs", most * s.taps * s.lanes, dtype),
        scratch("outputs", s.filters * s.lanes, dtype),
    )
    arrays, known = contiguous(x, y), (*panels, plan.offsets, plan.numbers)
    divided = [(t, r, s) for r in ranges for t, s in zip(sums, spans, strict=True)]
    parallel.each(
        correlate,
        [(*arrays, t, *known, *r, *s, 0) for t, r, s in divided],
        small=is_small(y.size * s.rows),
    )
    for more in sums[1:]:
        sums[0] += more
