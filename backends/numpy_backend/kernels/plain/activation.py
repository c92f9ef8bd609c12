"""Rectifiers, whose formulas choose between two values for each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.plain.select import blend, select, worthwhile


def relu_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`where(out > 0, g, 0)`."""
    out = f.data
    if not worthwhile(g, out):
        return NotImplemented
    return (select(out > 0, g),)


def leaky_relu(f: Any, xp: Any, x: Any) -> Any:
    """`where(x >= 0, x, x * slope)`."""
    if not worthwhile(x):
        return NotImplemented
    return blend(x >= 0, x, x * f.slope)


def leaky_relu_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`where(x > 0, g, g * slope)`."""
    x = f.inputs[0].data
    if not worthwhile(g, x):
        return NotImplemented
    return (blend(np.greater(x, 0), g, g * f.slope),)


def clipped_relu_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g` strictly between 0 and z, else 0."""
    x = f.inputs[0].data
    if not worthwhile(g, x):
        return NotImplemented
    return (select((x > 0) & (x < f.z), g),)


def crelu_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """The first half of `g` where x > 0, minus the second where x < 0."""
    x = f.inputs[0].data
    positive, negative = np.split(g, 2, axis=f.axis)
    if not worthwhile(x, positive):
        return NotImplemented
    return (select(x > 0, positive) - select(x < 0, negative),)


def hard_sigmoid_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`where(abs(x) < 2.5, 0.2 * g, 0)`."""
    x = f.inputs[0].data
    if not worthwhile(g, x):
        return NotImplemented
    return (select(np.abs(x) < 2.5, 0.2 * g),)


def clip_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g` within the bounds, themselves included, else 0."""
    x = f.inputs[0].data
    if not worthwhile(g, x):
        return NotImplemented
    inside = None if f.x_min is None else x >= f.x_min
    if f.x_max is not None:
        below = x <= f.x_max
        inside = below if inside is None else inside & below
    return (g if inside is None else select(inside, g),)


def maximum_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g` to the first where x1 >= x2, to the second where x1 < x2."""
    return _shared(f, g, needs_grad, np.greater_equal, np.less)


def minimum_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g` to the first where x1 <= x2, to the second where x1 > x2."""
    return _shared(f, g, needs_grad, np.less_equal, np.greater)


def _shared(f: Any, g: Any, needs_grad: int, first: Any, second: Any) -> Any:
    x1, x2 = [node.data for node in f.inputs]
    if not worthwhile(g, x1, x2):
        return NotImplemented
    return (
        select(first(x1, x2), g) if needs_grad & 1 else None,
        select(second(x1, x2), g) if needs_grad & 2 else None,
    )
