"""Arrays that are copied into larger ones, which NumPy does in one thread."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.products.panels import copy, fill
from backends.numpy_backend.kernels.compiler import FLOATS, Array, Read1, Real, Write1, compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.kernels.plain import pad as plain
from core.registry.threads import num_threads

PART = 1 << 16  # elements of a part


@emitted
def _put(
    e: Emitter, x: Any, y: Any, columns: Any, first: Any, pitch: Any, start: Any, stop: Any
) -> None:
    place = e.variable(start)
    with e.repeat(lambda: place.get() < stop):
        i = place.get()
        row, column = i // columns, i % columns
        count = (columns - column).least(stop - i)
        copy(e, y, first + row * pitch + column, x, i, count)
        place.set(i + count)


@emitted
def _framed(
    e: Emitter, x: Any, y: Any, value: Any, rows: Any, columns: Any, height: Any, width: Any,
    top: Any, left: Any, start: Any, stop: Any,
) -> None:  # fmt: skip
    with e.loop(stop, 1, start) as r:
        i, to = r % height - top, r * width
        with e.whether(i.within(rows)) as (inside, outside):
            with inside:
                fill(e, y, to, left, value)
                copy(e, y, to + left, x, (r // height * rows + i) * columns, columns)
                fill(e, y, to + left + columns, width - left - columns, value)
            with outside:
                fill(e, y, to, width, value)


@compiled
def put(x: Read1, y: Write1, columns: int, first: int, pitch: int, start: int, stop: int) -> None:
    """Elements of x by rows of so many columns, `pitch` apart in y from `first` on."""
    _put(x, y, columns, first, pitch, start, stop)


@compiled
def frame(
    x: Read1, y: Write1, value: Real, rows: int, columns: int, height: int, width: int,
    top: int, left: int, start: int, stop: int,
) -> None:  # fmt: skip
    """Rows of y: maps of so many rows and columns, with a value around them."""
    _framed(x, y, value, rows, columns, height, width, top, left, start, stop)


def _suit(*arrays: Any) -> bool:
    """Whether there is much to copy, of floats."""
    size = sum([prod(a.shape) for a in arrays])
    return size >= 2 * PART and all([a.dtype in FLOATS for a in arrays])


def _lie(*arrays: Array) -> bool:
    """Whether loops can read arrays, each in one piece."""
    return all([a.flags.c_contiguous and a.flags.aligned for a in arrays])


def _join(xs: tuple[Array, ...], axis: int) -> bool:
    """Whether arrays have such an axis, and but for it one shape, and one dtype."""
    alike = {(x.dtype, x.shape[:axis], x.shape[axis:][1:]) for x in xs}
    return 0 <= axis < xs[0].ndim and len(alike) == 1


def concat(f: Any, xp: Any, *xs: Array) -> Any:
    """The formula's."""
    axis = f.axis + xs[0].ndim if f.axis < 0 else f.axis
    if num_threads() == 1 or not _suit(*xs) or not _lie(*xs) or not _join(xs, axis):
        return NotImplemented
    shape = list(xs[0].shape)
    shape[axis] = sum([x.shape[axis] for x in xs])
    y = np.empty(shape, xs[0].dtype)
    first, pitch = 0, prod(shape[axis:])
    for x in xs:
        columns = prod(x.shape[axis:])
        if x.size:
            known = x.reshape(-1), y.reshape(-1), columns, first, pitch
            parallel.divide(put, x.size, PART, *known)
        first += columns
    return y


concat.fits = _suit  # type: ignore[attr-defined]
concat.recorded = False  # type: ignore[attr-defined]  # programs put it where they are told


def constant_pad(f: Any, xp: Any, x: Array) -> Any:
    """The formula's, in a loop where only the last two axes have borders, of one value."""
    if x.ndim < 2 or not _suit(x) or not _lie(x) or any(map(any, f.pad_width[:-2])):
        return plain.constant_pad(f, xp, x)
    border = plain.border_of(f)
    if border is None:
        return NotImplemented
    (*outer, rows, columns), ((top, below), (left, right)) = x.shape, f.pad_width[-2:]
    height, width = rows + top + below, columns + left + right
    y = np.empty((*outer, height, width), x.dtype)
    sizes = rows, columns, height, width, top, left
    known = x.reshape(-1), y.reshape(-1), x.dtype.type(border), *sizes
    parallel.divide(frame, prod(outer) * height, -(-PART // width), *known)
    return y
