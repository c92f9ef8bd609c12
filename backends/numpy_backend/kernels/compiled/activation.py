"""Rectifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiler import Read1, Write1, compiled, contiguous, suits
from backends.numpy_backend.kernels.plain import activation as plain

LEAST = 65536  # elements of a part; less is done sooner than another thread wakes up


@compiled
def _relu_gradient(y: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    y, g, gx = y[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] if y[i] > 0 else 0


def relu_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`where(y > 0, g, 0)`."""
    y = f.data
    if not suits(g, y):
        return plain.relu_gradient(f, g, needs_grad)
    gx = np.empty_like(g, order="C")
    parallel.divide(_relu_gradient, g.size, LEAST, *contiguous(y, g, gx))
    return (gx,)
