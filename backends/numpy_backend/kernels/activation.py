"""Rectifiers, whose formulas choose between two values for each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.select import blend, select, worthwhile


def relu_gradient(f: Any, g: Any, want: int) -> Any:
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


def leaky_relu_gradient(f: Any, g: Any, want: int) -> Any:
    """`where(x > 0, g, g * slope)`."""
    x = f.inputs[0].data
    if not worthwhile(g, x):
        return NotImplemented
    return (blend(np.greater(x, 0), g, g * f.slope),)
