"""Functions of one element, which NumPy computes one by one without AVX-512."""

from __future__ import annotations

import math
from typing import Any

from backends.numpy_backend.kernels.compiled import elementary
from backends.numpy_backend.kernels.compiled.activation import backward, forward
from backends.numpy_backend.kernels.compiled.elementary import TURNED_FAR, tan
from backends.numpy_backend.kernels.compiler import (
    Compiled,
    Inlined,
    Read1,
    Write1,
    compiled,
    compiled_with,
)

element: Any = None  # a function of one


def _of_each(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = element(x[i])


def _times_each(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] * element(x[i])


def _loop(of: Inlined) -> Compiled:
    return compiled_with(_of_each, f"{of.function.__name__}_of_each", element=of)


@compiled
def _tan(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    far = 0
    for i in range(x.size):
        y[i] = tan(x[i])
        far += 0 if abs(x[i]) <= TURNED_FAR else 1
    if far:
        for i in range(x.size):
            if not abs(x[i]) <= TURNED_FAR:
                y[i] = math.tan(x[i])


LOOPS = {
    name: _loop(getattr(elementary, name))
    for name in ("expm1_anywhere", "log1p_anywhere", "log2", "log10", "sinh", "cosh")
    + ("asinh", "acosh", "atanh", "asin", "acos", "atan")
} | {"tan": _tan}
_times_sinh = compiled_with(_times_each, "sinh_times_each", element=elementary.sinh)
_times_cosh = compiled_with(_times_each, "cosh_times_each", element=elementary.cosh)

(
    exponential_less_1,
    logarithm_of_1_more,
    logarithm_to_2,
    logarithm_to_10,
    hyperbolic_sine,
    hyperbolic_cosine,
    hyperbolic_arcsine,
    hyperbolic_arccosine,
    hyperbolic_arctangent,
    arcsine,
    arccosine,
    arctangent,
    tangent,
) = [forward(loop, calls=16) for loop in LOOPS.values()]
hyperbolic_sine_gradient = backward(_times_cosh, calls=16)
hyperbolic_cosine_gradient = backward(_times_sinh, calls=16)
