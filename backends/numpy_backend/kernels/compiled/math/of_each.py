"""Functions of each element, which NumPy computes one by one without AVX-512."""

from __future__ import annotations

import math
from typing import Any

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled import elementary
from backends.numpy_backend.kernels.compiled.activation import (
    LEAST,
    as_it_lies,
    backward,
    flat,
    forward,
)
from backends.numpy_backend.kernels.compiled.elementary import TURNED_FAR, atan2, tan
from backends.numpy_backend.kernels.compiler import (
    Array,
    Compiled,
    Inlined,
    Read1,
    Write1,
    compiled,
    compiled_with,
    in_loops,
    large,
    suits,
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


@compiled
def _atan2(y: Read1, x: Read1, angle: Write1, start: int, stop: int) -> None:
    y, x, angle = y[start:stop], x[start:stop], angle[start:stop]
    for i in range(angle.size):
        angle[i] = atan2(y[i], x[i])


LOOPS = {
    name: _loop(getattr(elementary, name))
    for name in ("expm1_anywhere", "log1p_anywhere", "log2", "log10", "sinh", "cosh")
    + ("asinh", "acosh", "atanh", "asin", "acos", "atan", "exp2")
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
    _power_of_two,
    tangent,
) = [forward(loop, calls=16) for loop in LOOPS.values()]
hyperbolic_sine_gradient = backward(_times_cosh, calls=16)
hyperbolic_cosine_gradient = backward(_times_sinh, calls=16)


def _of_two(kernel: Any) -> Any:
    def power(f: Any, xp: Any, x: Any) -> Any:
        return kernel(f, xp, x) if f.value == 2 else NotImplemented

    return power


constant_power = large(in_loops(_of_two(_power_of_two)), calls=16)
"""2^x; of other numbers NumPy takes the powers."""
constant_power.ready = lambda spec: _of_two(_power_of_two.ready(spec))  # type: ignore[attr-defined]


def arctangent_of_two(f: Any, xp: Any, x1: Array, x2: Array) -> Any:
    """The angle of (x2, x1)."""
    if not suits(x1, x2, calls=16):
        return NotImplemented
    y = as_it_lies(x1, x2)
    parallel.divide(_atan2, x1.size, LEAST, *flat(x1, x2, y))
    return y


large(in_loops(arctangent_of_two), calls=16)
