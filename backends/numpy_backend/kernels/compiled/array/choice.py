"""The choice between two arrays, element by element: NumPy's guesses each time which it will be."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import (
    Array,
    Bytes,
    Read1,
    Real,
    Write1,
    compiled,
    contiguous,
    in_loops,
    large,
    suits,
)

LEAST = 65536  # elements of a part


@compiled
def _choose(c: Bytes, x: Read1, y: Read1, out: Write1, start: int, stop: int) -> None:
    c, x, y, out = c[start:stop], x[start:stop], y[start:stop], out[start:stop]
    for i in range(out.size):
        a, b = x[i], y[i]
        out[i] = a if c[i] else b


@compiled
def _choose_number(
    c: Bytes, x: Read1, number: Real, otherwise: int, out: Write1, start: int, stop: int
) -> None:
    c, x, out = c[start:stop], x[start:stop], out[start:stop]
    for i in range(out.size):
        a = x[i]
        out[i] = a if c[i] != otherwise else number


def _of_each(condition: Array, *arrays: Array) -> list[Array] | None:
    """Arrays of one axis, if there is a truth value for each element, or for several of them."""
    if condition.dtype != np.bool_ or not suits(*arrays):
        return None
    if condition.shape != arrays[0].shape:
        try:
            condition = np.broadcast_to(condition, arrays[0].shape)
        except ValueError:  # the arrays are repeated, too
            return None
    return contiguous(condition.view(np.uint8), *arrays)


def _or_number(condition: Array, x: Array, number: float, otherwise: bool) -> Any:
    given = _of_each(condition, x)
    if given is None:
        return NotImplemented
    out = np.empty(x.shape, x.dtype)
    known = *given, x.dtype.type(number), int(otherwise), out.reshape(-1)
    parallel.divide(_choose_number, x.size, LEAST, *known)
    return out


@in_loops
@large
def where(f: Any, xp: Any, condition: Array, x: Array, y: Array) -> Any:
    """`where(condition, x, y)`, with its bits."""
    given = _of_each(condition, x, y)
    if given is None:
        return NotImplemented
    out = np.empty(x.shape, x.dtype)
    parallel.divide(_choose, x.size, LEAST, *given, out.reshape(-1))
    return out


@in_loops
@large
def where_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """`g` where the condition holds, and where it does not."""
    condition, *others = f._sources
    if any([other.spec.shape != g.shape for other in others]):
        return NotImplemented
    found = [
        _or_number(condition.data, g, 0.0, otherwise) if needs_grad & bit else None
        for bit, otherwise in ((2, False), (4, True))
    ]
    if any([gx is NotImplemented for gx in found]):
        return NotImplemented
    return None, *found


@in_loops
@large
def where_number(f: Any, xp: Any, condition: Array, x: Array) -> Any:
    """The choice between an array and a number."""
    return _or_number(condition, x, f.number, f.otherwise)


@in_loops
@large
def where_number_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """`g` where the array was chosen."""
    condition, x = f._sources
    if x.spec.shape != g.shape:
        return NotImplemented
    gx = _or_number(condition.data, g, 0.0, f.otherwise)
    return gx if gx is NotImplemented else (None, gx)
