"""Functions of one exponential or logarithm, which NumPy computes one by one without AVX-512."""

from __future__ import annotations

from typing import Any

from backends.numpy_backend.kernels.compiled.activation import backward, forward
from backends.numpy_backend.kernels.compiled.elementary import (
    cosh,
    expm1_anywhere,
    log1p_anywhere,
    sinh,
)
from backends.numpy_backend.kernels.compiler import Read1, Write1, compiled_with

element: Any = None  # a function of one


def _of_each(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = element(x[i])


def _times_each(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] * element(x[i])


_expm1, _log1p, _sinh, _cosh = [
    compiled_with(_of_each, f"{name}_of_each", element=of)
    for name, of in (
        ("expm1", expm1_anywhere),
        ("log1p", log1p_anywhere),
        ("sinh", sinh),
        ("cosh", cosh),
    )
]
_times_sinh = compiled_with(_times_each, "sinh_times_each", element=sinh)
_times_cosh = compiled_with(_times_each, "cosh_times_each", element=cosh)

exponential_less_1 = forward(_expm1, calls=16)
logarithm_of_1_more = forward(_log1p, calls=16)
hyperbolic_sine = forward(_sinh, calls=16)
hyperbolic_sine_gradient = backward(_times_cosh, calls=16)
hyperbolic_cosine = forward(_cosh, calls=16)
hyperbolic_cosine_gradient = backward(_times_sinh, calls=16)
