"""Activations, element by element in one pass.

Those without exponentials give the formula's bits. `tanh` is not here: NumPy's own loop was
measured to be as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import (
    HALF,
    ONE,
    ZERO,
    exp,
    expm1,
    log1p,
    normal_below,
    sigmoid,
)
from backends.numpy_backend.kernels.compiler import (
    Compiled,
    Read1,
    Real,
    Write1,
    compiled,
    contiguous,
    in_loops,
    large,
    number,
    suits,
)
from backends.numpy_backend.kernels.plain import activation as plain

LEAST = 262144  # elements of a part; less is done sooner than another core has fetched it

Kernel = Callable[..., Any]


def declined(*args: Any) -> Any:
    """There is no other kernel."""
    return NotImplemented


def forward(
    loop: Compiled, *settings: str, otherwise: Kernel = declined, single: bool = False
) -> Kernel:
    """A kernel that calls `loop(x, y, *settings, start, stop)`, in float32 alone if `single`."""

    def kernel(f: Any, xp: Any, x: Any) -> Any:
        if not suits(x) or (single and x.itemsize > 4):
            return otherwise(f, xp, x)
        y = np.empty(x.shape, x.dtype)
        numbers = [x.dtype.type(getattr(f, name)) for name in settings]
        parallel.divide(loop, x.size, LEAST, *contiguous(x, y), *numbers)
        return y

    return large(in_loops(kernel))


def backward(
    loop: Compiled,
    *settings: str,
    of_result: bool = False,
    otherwise: Kernel = declined,
    single: bool = False,
) -> Kernel:
    """A kernel that calls `loop(x, g, gx, *settings, start, stop)`, the result for x if asked."""

    def kernel(f: Any, g: Any, needs_grad: int) -> Any:
        x = f.data if of_result else f._sources[0].data
        if not suits(g, x) or (single and x.itemsize > 4):
            return otherwise(f, g, needs_grad)
        gx = np.empty(g.shape, g.dtype)
        numbers = [g.dtype.type(getattr(f, name)) for name in settings]
        parallel.divide(loop, g.size, LEAST, *contiguous(x, g, gx), *numbers)
        return (gx,)

    return large(in_loops(kernel))


# -- rectifiers ------------------------------------------------------------------------------------


@compiled
def _relu(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = ZERO if x[i] < ZERO else x[i]


@compiled
def _relu_gradient(y: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    y, g, gx = y[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] if y[i] > ZERO else ZERO


@compiled
def _leaky_relu(x: Read1, y: Write1, slope: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = x[i] if x[i] >= ZERO else x[i] * slope


@compiled
def _leaky_relu_gradient(
    x: Read1, g: Read1, gx: Write1, slope: Real, start: int, stop: int
) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] if x[i] > ZERO else g[i] * slope


relu = forward(_relu)
relu_gradient = backward(_relu_gradient, of_result=True, otherwise=plain.relu_gradient)
leaky_relu = forward(_leaky_relu, "slope", otherwise=plain.leaky_relu)
leaky_relu_gradient = backward(_leaky_relu_gradient, "slope", otherwise=plain.leaky_relu_gradient)

# -- with exponentials -----------------------------------------------------------------------------

_DEEP = number(-50.0)  # exp(x) - 1 is -1 there


@compiled
def _elu(x: Read1, y: Write1, alpha: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        v = x[i]
        below = ZERO if v > ZERO else v
        y[i] = v if v >= ZERO else expm1(_DEEP if below < _DEEP else below) * alpha


@compiled
def _elu_gradient(x: Read1, g: Read1, gx: Write1, alpha: Real, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        v = x[i]
        gx[i] = g[i] if v > ZERO else g[i] * (exp(ZERO if v > ZERO else v) * alpha)


@compiled
def _sigmoid(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = sigmoid(x[i])


@compiled
def _sigmoid_gradient(y: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    y, g, gx = y[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = (g[i] - g[i] * y[i]) * y[i]


@compiled
def _silu(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = x[i] * sigmoid(x[i])


@compiled
def _silu_gradient(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        s = sigmoid(x[i])
        gx[i] = g[i] * s * (ONE + x[i] * (ONE - s))


@compiled
def _softplus(x: Read1, y: Write1, beta: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        z = x[i] * beta
        y[i] = ((ZERO if z < ZERO else z) + log1p(exp(-abs(z)))) / beta


@compiled
def _softplus_gradient(x: Read1, g: Read1, gx: Write1, beta: Real, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] * sigmoid(x[i] * beta)


elu, elu_gradient = forward(_elu, "alpha"), backward(_elu_gradient, "alpha")
logistic, logistic_gradient = forward(_sigmoid), backward(_sigmoid_gradient, of_result=True)
silu, silu_gradient = forward(_silu), backward(_silu_gradient)
softplus, softplus_gradient = forward(_softplus, "beta"), backward(_softplus_gradient, "beta")

# -- with the normal distribution ------------------------------------------------------------------

_PEAK = number(1 / sqrt(2 * pi))


@compiled
def _gelu(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = x[i] * normal_below(x[i], exp(-HALF * x[i] * x[i]))


@compiled
def _gelu_gradient(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        bell = exp(-HALF * x[i] * x[i])
        gx[i] = g[i] * (normal_below(x[i], bell) + x[i] * (bell * _PEAK))


gelu, gelu_gradient = forward(_gelu, single=True), backward(_gelu_gradient, single=True)
