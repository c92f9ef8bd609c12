"""Long short-term memory over a whole sequence: each step's product, and its gates in one loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from backends.numpy_backend import blas, products
from backends.numpy_backend.kernels.compiled.elementary import sigmoid, tanh
from backends.numpy_backend.kernels.compiled.products import few_rows
from backends.numpy_backend.kernels.compiled.products.packed import Packed
from backends.numpy_backend.kernels.compiled.rnn.recurrent import (
    FOUR,
    N1,
    N2,
    N3,
    _divide,
    _lstm,
    _lstm_gradient,
    lstm_gradient_rows,
    lstm_rows,
)
from backends.numpy_backend.kernels.compiler import (
    Array,
    Read2,
    Read3,
    Write2,
    Write3,
    compiled,
    dense,
    inlined_exactly,
    suits,
)
from backends.numpy_backend.kernels.gemm import available, product, summed


@inlined_exactly
def gate_rows(x: Any, gates: Any, start: int, stop: int) -> None:
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


@compiled
def _gates(x: Read2, gates: Write3, start: int, stop: int) -> None:
    gate_rows(x, gates, start, stop)


AGAIN = 4, 8  # rows and steps from which on it pays to lay W out anew before them
SHORT = 1 << 20  # multiplications of a step with it

# -- all steps in one call, where a step is soon done ----------------------------------------------


@compiled
def _steps(
    h_first: Read2, c_first: Read2, x: Read3, W: Read2,
    z: Write3, gates: Write3, c: Write3, h: Write3, function: int,
) -> None:  # fmt: skip
    """All steps forward; W is (4 u, u), or transposed (u, 4 u)."""
    steps, n, columns = x.shape
    units = h.shape[2]
    turned = int(W.shape[0] == columns)
    for t in range(steps):
        for row in range(n):
            given, sums = x[t, row], z[t, row]
            for j in range(given.size):
                sums[j] = given[j]
        place = t * n * columns
        if t:
            summed(z, place, function, turned, n, columns, units, h, (t - 1) * n * units, W, 0)
            lstm_rows(z[t], c[t - 1], gates, c[t], h[t], 0, n)
        else:
            summed(z, place, function, turned, n, columns, units, h_first, 0, W, 0)
            lstm_rows(z[t], c_first, gates, c[t], h[t], 0, n)


@compiled
def _steps_back(
    g: Read3, c_first: Read2, z: Read3, c: Read3, W: Read2,
    gates: Write3, buffer: Write2, gc: Write3, gh: Write3, gx: Write3, given: int, function: int,
) -> None:  # fmt: skip
    """All steps backward. Each reads the gradients of its cells and outputs in gc[0] and gh[0],
    and leaves those of the step before there; gc[1] is in between.
    """
    steps, n, columns = z.shape
    units = W.shape[1]
    for last in range(steps):
        t = steps - 1 - last
        for row in range(n if given else 0):
            sums, more = gh[0, row], g[t, row]
            for j in range(sums.size):
                sums[j] += more[j]
        gate_rows(z[t], gates, 0, n)
        if t:
            lstm_gradient_rows(gc[0], gh[0], c[t - 1], c[t], gates, buffer, gc[1], gx[t], 0, n)
        else:
            lstm_gradient_rows(gc[0], gh[0], c_first, c[t], gates, buffer, gc[1], gx[t], 0, n)
        for row in range(n):
            before, after = gc[1, row], gc[0, row]
            for j in range(after.size):
                after[j] = before[j]
        product(gh, 0, function, 0, n, units, columns, gx, t * n * columns, columns, W, 0)


def _pays(steps: int, n: int) -> bool:
    """Whether it does: OpenBLAS multiplies some rows faster by W transposed, loops by W packed."""
    return n >= AGAIN[0] and steps >= AGAIN[1]


def _adding(W: Array, steps: int, n: int) -> Callable[[Array, Array], None]:
    """A function of matrices a and c that adds `a @ W` to c."""
    if _pays(steps, n):
        return Packed(W).add_product

    def add_product(a: Array, c: Array) -> None:
        np.add(c, products.matmul(a, W), out=c)

    return add_product


def _is_short(steps: int, n: int, units: int, dtype: Any) -> bool:
    """Whether the product of a step takes less time than calling it, and the loops beside it."""
    most = SHORT if _pays(steps, n) else few_rows.LEAST
    return 4 * n * units * units < most and available(dtype)


# -- what offers them ------------------------------------------------------------------------------


def lstm_sequence(f: Any, xp: Any, h_first: Array, c_first: Array, x: Array, W: Array) -> Any:
    """All outputs and the last state of the cells."""
    steps, n, columns = x.shape
    units = columns // 4
    same = h_first.dtype == c_first.dtype == W.dtype == x.dtype
    same = same and h_first.shape == c_first.shape == (n, units) and columns == 4 * units
    short = same and _is_short(steps, n, units, x.dtype)
    if not same or not steps or not (suits(x[0], calls=8) or (short and suits(x, calls=8))):
        return NotImplemented
    c, h = np.empty((2, steps, n, units), x.dtype)
    gates = np.empty((n, 4, units), x.dtype)
    before, output = dense(c_first, h_first)
    if short:
        with blas.limited(1):
            given = output, before, *dense(x, W.T if _pays(steps, n) else W)
            z = np.empty(x.shape, x.dtype)
            _steps(*given, z, gates, c, h, blas.gemm(x.dtype))
        f.z, f.c = z, c
        return h, c[-1]
    z, add_product = x.copy(order="C"), _adding(W.T, steps, n)
    for step in range(steps):
        add_product(output, z[step])
        _divide(_lstm, z[step], before, gates, c[step], h[step])
        before, output = c[step], h[step]
    f.z, f.c = z, c
    return h, c[-1]


def lstm_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, c_first, _, W = [source.data for source in f._sources]
    h, z, c = f.data[0], f.z, f.c
    steps, n, units = c.shape
    short = _is_short(steps, n, units, z.dtype)
    large = suits(z if short else z[0], calls=8)
    if W.dtype != z.dtype or not large or not z.flags.c_contiguous:
        return NotImplemented
    gh_all, gc = g
    nothing = np.zeros((n, units), c.dtype)
    (gc,) = dense(nothing if gc is None else gc)
    gx, gates = np.empty(z.shape, z.dtype), np.empty((n, 4, units), z.dtype)
    if short:
        g_all, before, cells, weights = dense(c if gh_all is None else gh_all, c_first, c, W)
        states, buffer = np.zeros((2, 2, n, units), c.dtype), np.empty((4, units), c.dtype)
        states[0, 0] = gc
        known = int(gh_all is not None), blas.gemm(c.dtype)
        with blas.limited(1):
            _steps_back(g_all, before, z, cells, weights, gates, buffer, *states, gx, *known)
        return states[1, 0], states[0, 0], gx, _of_weights(h_first, h, gx)
    gh, add_product = np.zeros((steps + 1, n, units), c.dtype), _adding(W, steps, n)
    if gh_all is not None:
        gh[1:] = gh_all
    for step in reversed(range(steps)):
        (before,), gc_prev = dense(c[step - 1] if step else c_first), np.empty_like(gc)
        _divide(_gates, z[step], gates)
        _divide(_lstm_gradient, gc, gh[step + 1], before, c[step], gates, gc_prev, gx[step])
        add_product(gx[step], gh[step])
        gc = gc_prev
    return gh[0], gc, gx, _of_weights(h_first, h, gx)


def _of_weights(h_first: Array, h: Array, gx: Array) -> Array:
    """The gradient of W: one product over all steps."""
    states = np.concatenate([h_first[None], h[:-1]]).reshape(-1, h.shape[2])
    found: Array = products.matmul(gx.reshape(len(states), -1).T, states)
    return found
