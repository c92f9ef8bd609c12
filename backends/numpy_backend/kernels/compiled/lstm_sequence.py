"""Long short-term memory over a whole sequence: each step's product, and its gates in one loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import products
from backends.numpy_backend.kernels.compiled.elementary import sigmoid, tanh
from backends.numpy_backend.kernels.compiled.recurrent import (
    FOUR,
    N1,
    N2,
    N3,
    _divide,
    _lstm,
    _lstm_gradient,
)
from backends.numpy_backend.kernels.compiler import Array, Read2, Write3, compiled, dense, suits


@compiled
def _gates(x: Read2, gates: Write3, start: int, stop: int) -> None:
    """Columns of x are a, i, f and o in turn; gates are dense rows."""
    for row in range(start, stop):
        xs, a, i, f, o = x[row], gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        for j in range(a.size):
            k = np.uintp(j) * FOUR
            a[j], i[j], f[j], o[j] = xs[k], xs[k + N1], xs[k + N2], xs[k + N3]
        for j in range(a.size):
            a[j] = tanh(a[j])
        for number in range(1, 4):
            squashed = gates[row, number]
            for j in range(squashed.size):
                squashed[j] = sigmoid(squashed[j])


def lstm_sequence(f: Any, xp: Any, h_first: Array, c_first: Array, x: Array, W: Array) -> Any:
    """All outputs and the last state of the cells."""
    steps, n, columns = x.shape
    units = columns // 4
    same = h_first.dtype == c_first.dtype == W.dtype == x.dtype
    same = same and h_first.shape == c_first.shape == (n, units) and columns == 4 * units
    if not same or not steps or not suits(x[0], calls=8):
        return NotImplemented
    z, (c, h) = np.empty(x.shape, x.dtype), np.empty((2, steps, n, units), x.dtype)
    gates = np.empty((n, 4, units), x.dtype)
    before, output = dense(c_first, h_first)
    for step in range(steps):
        np.add(x[step], products.matmul(output, W.T), out=z[step])
        _divide(_lstm, z[step], before, gates, c[step], h[step])
        before, output = c[step], h[step]
    f.z, f.c = z, c
    return h, c[-1]


def lstm_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, c_first, _, W = [source.data for source in f._sources]
    h, z, c = f.data[0], f.z, f.c
    steps, n, units = c.shape
    if W.dtype != z.dtype or not suits(z[0], calls=8) or not z.flags.c_contiguous:
        return NotImplemented
    gh_all, gc = g
    nothing = np.zeros((n, units), c.dtype)
    (gc,), gh = dense(nothing if gc is None else gc), None
    gx, gates = np.empty(z.shape, z.dtype), np.empty((n, 4, units), z.dtype)
    for step in reversed(range(steps)):
        if gh_all is not None:
            gh = gh_all[step] if gh is None else np.add(gh, gh_all[step], out=gh)
        before, given = dense(c[step - 1] if step else c_first, nothing if gh is None else gh)
        gc_prev = np.empty_like(gc)
        _divide(_gates, z[step], gates)
        _divide(_lstm_gradient, gc, given, before, c[step], gates, gc_prev, gx[step])
        gc, gh = gc_prev, products.matmul(gx[step], W)
    states = np.concatenate([h_first[None], h[:-1]]).reshape(steps * n, units)
    return gh, gc, gx, products.matmul(gx.reshape(steps * n, 4 * units).T, states)
