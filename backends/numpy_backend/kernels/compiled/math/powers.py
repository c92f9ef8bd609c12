"""Second, third and fourth powers, which the formula takes as products, in one pass."""

from __future__ import annotations

from typing import Any

from backends.numpy_backend.kernels.compiled import activation
from backends.numpy_backend.kernels.compiled.activation import backward, forward
from backends.numpy_backend.kernels.compiler import (
    Array,
    Read1,
    Write1,
    compiled,
    in_loops,
    large,
    number,
)

_TWO, _THREE, _FOUR = number(2.0), number(3.0), number(4.0)


@compiled
def _square(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(y.size):
        y[i] = x[i] * x[i]


@compiled
def _cube(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(y.size):
        y[i] = x[i] * x[i] * x[i]


@compiled
def _fourth(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(y.size):
        square = x[i] * x[i]
        y[i] = square * square


@compiled
def _square_back(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(gx.size):
        gx[i] = g[i] * x[i] * _TWO


@compiled
def _cube_back(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(gx.size):
        gx[i] = g[i] * (x[i] * x[i] * _THREE)


@compiled
def _fourth_back(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(gx.size):
        gx[i] = g[i] * (x[i] * x[i] * x[i] * _FOUR)


_FORWARD = {2: forward(_square), 3: forward(_cube), 4: forward(_fourth)}
_BACKWARD = {2: backward(_square_back), 3: backward(_cube_back), 4: backward(_fourth_back)}


@in_loops
def power(f: Any, xp: Any, x: Array) -> Any:
    """These powers; a square in parts alone, for NumPy takes one pass as well."""
    kernel = _FORWARD.get(f.value)
    if kernel is None or (f.value == 2 and x.size < 2 * activation.LEAST):
        return NotImplemented
    return kernel(f, xp, x)


@in_loops
def power_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """Those of these powers."""
    kernel = _BACKWARD.get(f.value)
    return NotImplemented if kernel is None else kernel(f, g, needs_grad)


large(power)
large(power_gradient)
