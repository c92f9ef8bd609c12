"""The choice between two arrays, element by element: NumPy's guesses each time which it will be."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiler import (
    Array,
    Bytes,
    Read1,
    Write1,
    compiled,
    contiguous,
    in_loops,
    large,
    suits,
)

LEAST = 262144  # elements of a part


@compiled
def _choose(c: Bytes, x: Read1, y: Read1, out: Write1, start: int, stop: int) -> None:
    c, x, y, out = c[start:stop], x[start:stop], y[start:stop], out[start:stop]
    for i in range(out.size):
        a, b = x[i], y[i]
        out[i] = a if c[i] else b


@compiled
def _keep(c: Bytes, g: Read1, gx: Write1, start: int, stop: int) -> None:
    c, g, gx = c[start:stop], g[start:stop], gx[start:stop]
    for i in range(gx.size):
        gx[i] = g[i] if c[i] else ZERO


@compiled
def _leave_out(c: Bytes, g: Read1, gx: Write1, start: int, stop: int) -> None:
    c, g, gx = c[start:stop], g[start:stop], gx[start:stop]
    for i in range(gx.size):
        gx[i] = ZERO if c[i] else g[i]


def _of_each(condition: Array, *arrays: Array) -> list[Array] | None:
    """Arrays of one axis, if there is a truth value for each element."""
    if condition.shape != arrays[0].shape or condition.dtype != np.bool_ or not suits(*arrays):
        return None
    return contiguous(condition.view(np.uint8), *arrays)


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
    given = _of_each(condition.data, g)
    if given is None:
        return NotImplemented
    found = []
    for bit, loop in ((2, _keep), (4, _leave_out)):
        found.append(np.empty(g.shape, g.dtype) if needs_grad & bit else None)
        if found[-1] is not None:
            parallel.divide(loop, g.size, LEAST, *given, found[-1].reshape(-1))
    return None, *found
