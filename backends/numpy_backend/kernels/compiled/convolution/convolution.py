"""Convolution, deconvolution and the gradient of their filters: which loops compute them.

Channels each by themselves have loops of their own, and so have windows of three by three over
many channels, those of one place, and maps of few places. Other windows are read where they lie,
with filters or windows of a row side by side; where neither fill vectors, they are gathered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.convolution import (
    along_rows,
    depthwise,
    depthwise_of_few,
    direct,
    few_places,
    pointwise,
    winograd,
    winograd_filters,
)
from backends.numpy_backend.kernels.compiled.convolution.loops import convolve, correlate, spread
from backends.numpy_backend.kernels.compiled.convolution.plans import (
    BAND,
    LOWEST,
    Plan,
    axes_of,
    biases_of,
    is_small,
    parts,
    parts_at_most,
    plan_of,
    scratch,
)
from backends.numpy_backend.kernels.compiled.products.panels import LANE_BYTES
from backends.numpy_backend.kernels.compiler import contiguous
from backends.numpy_backend.typing import Array
from core.arrays.windows import Geometry, unfolded
from core.registry.threads import num_threads

Spec: TypeAlias = tuple[tuple[int, ...], Any]  # shape and dtype

BLOCK = 960  # lanes of a panel of which the filters' gradient takes the sum
BLOCK_ROWS = 160  # and its rows, with which it fills half of a second-level cache
LARGER = 1.25  # times than what they are summed to: maps for which sums of windows are faster
CALLS = 64  # of NumPy in the formulas, which for more than 256 products take twice as long
OWN = 8  # channels, of fewer of which a tile of a product is not full


def _kernel(floor: float) -> Any:
    """The kernel that gives what `Convolution.compute` does, at least so much."""

    def bound(f: Any, x: Any, W: Any, b: Any = None) -> Any:
        """What computes the convolution of arrays like these."""
        specs = [None if a is None else (a.shape, a.dtype) for a in (x, W, b)]
        settings = f.stride, f.pad, f.dilate, f.cover_all, f.groups
        return _of_shapes(*settings, *specs, floor, num_threads())

    def kernel(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
        run = bound(f, x, W, b)
        return NotImplemented if run is None else run(x, W, b)[0]

    kernel.bound = bound  # type: ignore[attr-defined]
    return kernel


convolution = _kernel(LOWEST)
convolution.rectified = _kernel(0.0)


@lru_cache(maxsize=1024)
def _of_shapes(
    stride: Any, pad: Any, dilate: Any, cover_all: bool, groups: int,
    x: Spec, W: Spec, b: Spec | None, floor: float, threads: int,
) -> Callable[..., tuple[Array]] | None:  # fmt: skip
    """What computes all convolutions of these shapes and dtypes; None where formulas do."""
    (images, of_x, *size), dtype = x
    (of_y, channels, *ksize), _ = W
    g = Geometry(tuple(size), tuple(ksize), stride, pad, dilate, cover_all).checked()
    fit = of_x == groups * channels and (b is None or b[0] == (of_y,))
    if not fit or not _suit(images * prod(W[0]) * prod(g.out), x, W, b):
        return None
    shape, filters = (images, of_y, *g.out), of_y // groups
    compute: Callable[[Array, Array, Array | None, Array], None]
    if depthwise.suits(channels, filters):
        few = depthwise_of_few.suits(g, groups, filters, dtype)
        compute = partial((depthwise_of_few if few else depthwise).convolution, g, floor=floor)
    elif pointwise.suits(g, dtype, filters * channels):
        compute = partial(pointwise.convolution, groups=groups, floor=floor)
    elif few_places.suits(g, groups, images):
        compute = partial(few_places.convolution, g, floor=floor)
    elif winograd.suits(g, images, channels, filters):
        compute = partial(winograd.convolution, g, groups=groups, floor=floor)
    else:
        lanes, limit = LANE_BYTES // dtype.itemsize, BAND // dtype.itemsize
        plan = plan_of(axes_of(g), groups, channels, filters, lanes, limit)
        rows = along_rows.suits(plan.sizes, dtype.itemsize)
        if not (rows and filters <= along_rows.FEW) and direct.suits(
            plan.sizes, images, dtype.itemsize
        ):
            compute = direct.convolving(plan, images, dtype, floor)
        elif rows:
            compute = along_rows.convolving(plan, images, dtype, floor)
        else:
            compute = _convolving(plan, images, dtype, plan.sizes.rows, 1, floor)

    def run(x: Array, W: Array, b: Array | None = None, y: Array | None = None) -> tuple[Array]:
        y = np.empty(shape, dtype) if y is None else y
        compute(x, W, b, y)
        return (y,)

    return run


def deconvolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """What `Deconvolution.compute` gives."""
    fit = x.shape[1] == len(W) and (b is None or b.shape == (f.groups * W.shape[1],))
    others = [(a.shape, a.dtype) for a in (W, b) if a is not None]
    if not fit or not _suit(len(x) * W.size * prod(x.shape[2:]), (x.shape, x.dtype), *others):
        return NotImplemented
    size = f.spread(x.shape[2:], W.shape[2:])
    g = _unfolded((1, 1, *W.shape[2:], *x.shape[2:]), size, f.stride, f.pad, f.dilate)
    y = np.empty((len(x), W.shape[1] * f.groups, *size), x.dtype)
    _deconvolving(g, f.groups, x, W, b)(x, W, b, y)
    return y


def _deconvolving(
    g: Geometry, groups: int, x: Array, W: Array, b: Array | None
) -> Callable[[Array, Array, Array | None, Array], Any]:
    """What computes `y`, of arrays like these."""
    filters, channels, images = W.shape[0] // groups, W.shape[1], len(x)
    alone = depthwise.suits(channels, filters)
    if alone and depthwise_of_few.suits(g, groups, filters, x.dtype):
        return partial(depthwise_of_few.convolution, g, back=True)
    if not alone and pointwise.suits(g, x.dtype, filters * channels):
        return partial(pointwise.convolution, groups=groups, turned=True)
    if not alone and few_places.suits(g, groups, images):
        return partial(few_places.convolution, g, back=True)
    turned = filters == 1 if alone else channels >= OWN
    convolving = _as_convolution(g, groups, x, W, b) if turned else None
    if alone and convolving is None:
        return partial(depthwise.deconvolution, g)
    within = all([p < k for p, k in zip(g.pad, g.ksize, strict=True)])
    if within and winograd.suits(g, images, channels, filters):
        return partial(winograd.convolution, g, groups=groups, back=True)
    lanes = LANE_BYTES // x.itemsize
    if x.shape[2:] == g.size and prod(g.ksize) == 1 and not any(g.pad):
        plan = plan_of(axes_of(g), groups, filters, channels, lanes, BAND // x.itemsize)
        return _convolving(plan, images, x.dtype, 1, channels)
    return convolving or partial(_spread, plan_of(axes_of(g), groups, channels, filters, lanes, 0))


def _as_convolution(g: Geometry, groups: int, x: Array, W: Array, b: Array | None) -> Any:
    """What gives the same of turned filters; None where their windows are more, or none fit."""
    reach = [(k - 1) * d for k, d in zip(g.ksize, g.dilate, strict=True)]
    around = tuple([r - p for r, p in zip(reach, g.pad, strict=True)])
    if max(g.stride) > 1 or min(around) < 0 or prod(g.size) > LARGER * prod(g.out):
        return None
    turned = (W.shape[1] * groups, W.shape[0] // groups, *g.ksize), W.dtype
    bias = None if b is None else (b.shape, b.dtype)
    settings = g.stride, around, g.dilate, False, groups
    run = _of_shapes(*settings, (x.shape, x.dtype), turned, bias, LOWEST, num_threads())
    return run and (lambda x, W, b, y: run(x, _turned(W, groups), b, y))


def _turned(W: Array, groups: int) -> Array:
    """Filters from the last place to the first, and of each channel in the place of each filter."""
    grouped = W.reshape(groups, -1, *W.shape[1:]).swapaxes(1, 2)
    turned = np.flip(grouped, tuple(range(3, grouped.ndim)))
    return np.ascontiguousarray(turned).reshape(-1, *turned.shape[2:])


def filter_gradient(f: Any, xp: Any, x: Any, y: Any) -> Any:
    """What `ConvolutionFilterGradient.compute` gives."""
    filters, channels = y.shape[1] // f.groups, x.shape[1] // f.groups
    if not _suit(y.size * channels * prod(f.ksize), (x.shape, x.dtype), (y.shape, y.dtype)):
        return NotImplemented
    g = _geometry(x.shape[2:], f.ksize, f.stride, f.pad, f.dilate, f.cover_all)
    if winograd.suits(g, len(y), channels, filters, summed=True):
        return winograd_filters.filter_gradient(g, x, y, f.groups)
    alone = depthwise.suits(channels, filters)
    if not alone and pointwise.suits(g, x.dtype):
        return pointwise.filter_gradient(x, y, f.groups, f.ksize)
    if few_places.suits_sums(g, f.groups, len(x), channels):
        return few_places.filter_gradient(g, x, y)
    W = np.zeros((y.shape[1], channels, *f.ksize), x.dtype)
    if alone:
        few = depthwise_of_few.suits(g, f.groups, filters, x.dtype)
        (depthwise_of_few if few else depthwise).filter_gradient(g, x, y, W)
    else:
        plan = plan_of(axes_of(g), f.groups, channels, filters, BLOCK, BAND // x.itemsize)
        (direct.filter_gradient if direct.suits_sums(plan.sizes) else _correlate)(plan, x, y, W)
    return W


@lru_cache(maxsize=1024)
def _geometry(*sizes: Any) -> Geometry:
    return Geometry(*sizes).checked()


_unfolded = lru_cache(maxsize=1024)(unfolded)


def _suit(products: int, x: Spec, *others: Spec | None) -> bool:
    """Whether there is much to compute, from floats of one dtype on one to three axes."""
    shape, dtype = x
    return (
        products * CALLS > 8 * compiler.SMALL
        and dtype in compiler.FLOATS
        and 3 <= len(shape) <= 5
        and all([a is None or a[1] == dtype for a in others])
    )


def _convolving(
    plan: Plan, images: int, dtype: Any, row: int, column: int, floor: float = LOWEST
) -> Callable[[Array, Array, Array | None, Array], None]:
    """What computes `y`, from filters that lie in `W` with these strides."""
    s = plan.sizes
    places = images * s.places
    products = places * s.groups * s.filters * s.rows
    many, small, threads = parts_at_most(products), is_small(products), num_threads()
    spans, ranges = [(0, places)], [(0, s.filters)]
    if places >= 2 * many * s.lanes:
        spans = parts(places, s.lanes, many)
    else:
        ranges = parts(s.filters, 8, min(many, threads))  # each gathers windows for itself

    most = max([high - low for low, high in ranges])
    sizes = {
        "room": s.channels * s.plane,
        "inputs": s.rows * s.lanes,
        "outputs": (most + 8) * s.lanes,
    }
    known = plan.offsets, plan.numbers, row, column
    divided = [(*r, *s, 0) for r in ranges for s in spans]

    def compute(x: Array, W: Array, b: Array | None, y: Array) -> None:
        biases, bias = biases_of(b, dtype)
        panels = [scratch(name, size, dtype, threads) for name, size in sizes.items()]
        numbers = *known, bias, dtype.type(floor)
        arrays = (*contiguous(x, W), biases, y.reshape(-1), *panels, *numbers)
        parallel.each(convolve, [(*arrays, *part) for part in divided], threads, small)

    return compute


def _spread(plan: Plan, x: Array, W: Array, b: Array | None, y: Array) -> None:
    """`y`, images of it at a time, or channels where images are few."""
    s, dtype, threads = plan.sizes, x.dtype, num_threads()
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
        scratch("room", most * s.plane, dtype, threads),
        scratch("inputs", (most * s.taps + 8) * s.lanes, dtype, threads),
        scratch("outputs", s.filters * s.lanes, dtype, threads),
    )
    known = (*arrays, *panels, plan.offsets, plan.numbers, bias)
    parallel.each(
        spread,
        [(*known, *r, *s, 0) for r in ranges for s in spans],
        threads,
        is_small(x.size * s.rows),
    )


def _correlate(plan: Plan, x: Array, y: Array, W: Array) -> None:
    """`W`, channels of it at a time, and as sums over parts of the places where they are few."""
    s, dtype, threads = plan.sizes, x.dtype, num_threads()
    many = parts_at_most(y.size * s.rows)
    chunks = -(-s.channels // max(1, BLOCK_ROWS // s.taps))
    if s.rows >= 24 * many:
        chunks = max(chunks, min(many, s.channels))
    ranges = [(group, *r) for group in range(s.groups) for r in parts(s.channels, 1, chunks)]
    spans = parts(len(x) * s.places, s.lanes, max(1, many // len(ranges)))
    sums = [W.reshape(-1), *[np.zeros(W.size, dtype) for _ in spans[1:]]]
    most = max([high - low for _, low, high in ranges])
    panels = (
        scratch("room", most * s.plane, dtype, threads),
        scratch("inputs", most * s.taps * s.lanes, dtype, threads),
        scratch("outputs", s.filters * s.lanes, dtype, threads),
    )
    arrays, known = contiguous(x, y), (*panels, plan.offsets, plan.numbers)
    divided = [(t, r, s) for r in ranges for t, s in zip(sums, spans, strict=True)]
    parallel.each(
        correlate,
        [(*arrays, t, *known, *r, *s, 0) for t, r, s in divided],
        threads,
        is_small(y.size * s.rows),
    )
    for more in sums[1:]:
        sums[0] += more
