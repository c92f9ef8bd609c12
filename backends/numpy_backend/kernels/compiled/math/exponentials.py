"""Functions of one exponential or logarithm, which NumPy computes one by one without AVX-512."""

from __future__ import annotations

from backends.numpy_backend.kernels.compiled.activation import backward, forward
from backends.numpy_backend.kernels.compiled.elementary import (
    cosh,
    expm1_anywhere,
    log1p_anywhere,
    sinh,
)
from backends.numpy_backend.kernels.compiler import Read1, Write1, compiled


@compiled
def _expm1(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = expm1_anywhere(x[i])


@compiled
def _log1p(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = log1p_anywhere(x[i])


@compiled
def _sinh(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = sinh(x[i])


@compiled
def _cosh(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = cosh(x[i])


@compiled
def _sinh_gradient(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] * cosh(x[i])


@compiled
def _cosh_gradient(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] * sinh(x[i])


exponential_less_1 = forward(_expm1, calls=16)
logarithm_of_1_more = forward(_log1p, calls=16)
hyperbolic_sine = forward(_sinh, calls=16)
hyperbolic_sine_gradient = backward(_sinh_gradient, calls=16)
hyperbolic_cosine = forward(_cosh, calls=16)
hyperbolic_cosine_gradient = backward(_cosh_gradient, calls=16)
