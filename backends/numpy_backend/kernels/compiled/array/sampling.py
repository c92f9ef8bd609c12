"""Images sampled at the places of a grid, from the pixels where they lie.

The formula takes all four pixels around the places from a copy of the images with a border.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.elementary import ONE, ZERO
from backends.numpy_backend.kernels.compiler import (
    FLOATS,
    MANY,
    Array,
    Indices2,
    Read2,
    Read3,
    Real,
    Write2,
    Write3,
    WriteIndices2,
    compiled,
    dense,
    in_loops,
    inlined_exactly,
    large,
    suits,
)
from core.typing import Shape

PART = 1 << 13  # results of a part


@inlined_exactly
def _between(place: float, half: float, end: float) -> tuple[int, float, float]:
    """The pixel before a place, where 0 is the border; the share of the next one; and its slope."""
    scaled = (place + ONE) * half + ONE
    inside = scaled > ZERO and scaled < end
    at = ZERO if scaled < ZERO else end if scaled > end else scaled
    before = min(int(at), int(end) - 1) if at >= ZERO else 0  # 0 for what is not a number
    return before, at - (ZERO + before), half if inside else ZERO


@compiled
def _corners(
    grid: Read3,
    pixels: WriteIndices2,
    shares: Write2,
    h: int,
    w: int,
    half_h: Real,
    half_w: Real,
    start: int,
    stop: int,
) -> None:
    """The four pixels around each place of images `start` to `stop`, -1 outside, and shares."""
    for n in range(start, stop):
        for k in range(grid.shape[2]):
            left, right, _ = _between(grid[n, 0, k], half_w, ONE + w)
            top, low, _ = _between(grid[n, 1, k], half_h, ONE + h)
            for i in range(2):
                down, y = low if i else ONE - low, top + i - 1
                for j in range(2):
                    across, x = right if j else ONE - right, left + j - 1
                    inside = y >= 0 and y < h and x >= 0 and x < w
                    corner = 4 * n + 2 * i + j
                    pixels[corner, k] = y * w + x if inside else -1
                    shares[corner, k] = across * down


@compiled
def _sampled(
    x: Read2,
    pixels: Indices2,
    shares: Read2,
    y: Write2,
    channels: int,
    start: int,
    stop: int,
) -> None:
    """Channels of images from `start` to `stop`."""
    for unit in range(start, stop):
        first, plane, out = unit // channels * 4, x[unit], y[unit]
        for k in range(out.size):
            total = ZERO
            for corner in range(first, first + 4):
                pixel = pixels[corner, k]
                total += (plane[pixel] if pixel >= 0 else ZERO) * shares[corner, k]
            out[k] = total


@compiled
def _spread(
    g: Read2,
    pixels: Indices2,
    shares: Read2,
    gx: Write2,
    channels: int,
    start: int,
    stop: int,
) -> None:
    for unit in range(start, stop):
        first, given, plane = unit // channels * 4, g[unit], gx[unit]
        for i in range(plane.size):
            plane[i] = ZERO
        for k in range(given.size):
            for corner in range(first, first + 4):
                pixel = pixels[corner, k]
                if pixel >= 0:
                    plane[pixel] += given[k] * shares[corner, k]


@compiled
def _moved(
    x: Read2,
    g: Read2,
    grid: Read3,
    pixels: Indices2,
    sums: Write2,
    moved: Write3,
    half_h: Real,
    half_w: Real,
    h: int,
    w: int,
    channels: int,
    start: int,
    stop: int,
) -> None:
    """The gradient of the places of images from `start` to `stop`; `sums` are room for it."""
    for n in range(start, stop):
        for corner in range(4 * n, 4 * n + 4):
            for k in range(grid.shape[2]):
                sums[corner, k] = ZERO
            for unit in range(n * channels, n * channels + channels):
                plane, given = x[unit], g[unit]
                for k in range(given.size):
                    pixel = pixels[corner, k]
                    sums[corner, k] += (plane[pixel] if pixel >= 0 else ZERO) * given[k]
        for k in range(grid.shape[2]):
            _, right, slope_across = _between(grid[n, 0, k], half_w, ONE + w)
            _, low, slope_down = _between(grid[n, 1, k], half_h, ONE + h)
            across = down = ZERO
            for i in range(2):
                for j in range(2):
                    total = sums[4 * n + 2 * i + j, k]
                    side = slope_across if j else -slope_across
                    across += total * ((low if i else ONE - low) * side)
                    side = slope_down if i else -slope_down
                    down += total * ((right if j else ONE - right) * side)
            moved[n, 0, k], moved[n, 1, k] = across, down


def _around(shape: Shape, grid: Array) -> tuple[Array, tuple[Any, ...], Array, Array]:
    """The places as (n, 2, k); halves of the sizes; pixels around the places, and shares."""
    (n, _, h, w), real = shape, grid.dtype.type
    (places,) = dense(grid.reshape(n, 2, -1))
    corners = 4 * n, places.shape[2]
    pixels, shares = np.empty(corners, np.intp), np.empty(corners, grid.dtype)
    halves = real((h - 1) / 2), real((w - 1) / 2)
    least = -(-PART // max(1, corners[1]))
    parallel.divide(_corners, n, least, places, pixels, shares, h, w, *halves)
    return places, halves, pixels, shares


_large = partial(large, calls=MANY)


@in_loops
@_large
def sampler(f: Any, xp: Any, x: Array, grid: Array) -> Any:
    """The formula's, with its bits."""
    if not suits(x, calls=MANY) or grid.dtype != x.dtype:
        return NotImplemented
    n, c, h, w = x.shape
    _, _, pixels, shares = _around(x.shape, grid)
    (planes,) = dense(x.reshape(n * c, h * w))
    y = np.empty((n * c, pixels.shape[1]), x.dtype)
    least = -(-PART // max(1, pixels.shape[1]))
    parallel.divide(_sampled, n * c, least, planes, pixels, shares, y, c)
    return y.reshape(n, c, *grid.shape[2:])


@in_loops
@_large
def sampler_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The formula's, summed in another order."""
    x, grid = f._sources[0].data, f._sources[1].data  # x is kept for the places' gradient alone
    (n, c, h, w), dtype = f._sources[0].spec.shape, g.dtype
    if n * c * h * w * MANY < compiler.SMALL or dtype not in FLOATS or grid.dtype != dtype:
        return NotImplemented
    places, halves, pixels, shares = _around((n, c, h, w), grid)
    (given,) = dense(g.reshape(n * c, -1))
    gx = moved = None
    if needs_grad & 1:
        gx = np.empty((n * c, h * w), dtype)
        least = -(-PART // max(1, pixels.shape[1]))
        parallel.divide(_spread, n * c, least, given, pixels, shares, gx, c)
        gx = gx.reshape(n, c, h, w)
    if needs_grad & 2:
        (planes,) = dense(x.reshape(n * c, h * w))
        moved, room = np.empty_like(places), np.empty_like(shares)
        about = places, pixels, room, moved, *halves, h, w, c
        parallel.divide(_moved, n, 1, planes, given, *about)
        moved = moved.reshape(grid.shape)
    return gx, moved
