"""Recurrent cells, row by row: activations of the gates, and what follows from them.

The passes over a row are loops of their own: with more arrays a compiler that has to tell them
apart gives up on vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import ONE, sigmoid, tanh
from backends.numpy_backend.kernels.compiler import (
    MANY,
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

LEAST = 4096  # elements of the first array in a part
FOUR, N1, N2, N3 = np.uintp(4), np.uintp(1), np.uintp(2), np.uintp(3)


def _divide(loop: Any, *args: Array) -> None:
    """A loop over the rows, in threads."""
    rows, columns = args[0].shape
    parallel.divide(loop, rows, -(-LEAST // max(columns, 1)), *args)


# -- long short-term memory ------------------------------------------------------------------------


@inlined_exactly
def lstm_rows(x: Any, c_prev: Any, gates: Any, c: Any, h: Any, start: int, stop: int) -> None:
    """Columns of x are a, i, f and o in turn; gates are dense rows."""
    for row in range(start, stop):
        a, i, f, o = gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        xs, before, cs, hs = x[row], c_prev[row], c[row], h[row]
        for j in range(cs.size):
            k = np.uintp(j) * FOUR
            a[j], i[j], f[j], o[j] = xs[k], xs[k + N1], xs[k + N2], xs[k + N3]
        for j in range(cs.size):
            a[j] = tanh(a[j])
        for number in range(1, 4):
            squashed = gates[row, number]
            for j in range(cs.size):
                squashed[j] = sigmoid(squashed[j])
        for j in range(cs.size):
            cs[j] = a[j] * i[j] + f[j] * before[j]
        for j in range(cs.size):
            hs[j] = o[j] * tanh(cs[j])


@compiled
def _lstm(
    x: Read2, c_prev: Read2, gates: Write3, c: Write2, h: Write2, start: int, stop: int
) -> None:
    lstm_rows(x, c_prev, gates, c, h, start, stop)


@inlined_exactly
def lstm_gradient_rows(
    gc: Any, gh: Any, c_prev: Any, c: Any, gates: Any, buffer: Any, gc_prev: Any, gx: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Gradients of the same, from the gates; of `buffer` there is a row for each of them."""
    for row in range(start, stop):
        a, i, f, o = gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        ga, gi, gf, go = buffer[0], buffer[1], buffer[2], buffer[3]
        gcs, ghs, before, cs = gc[row], gh[row], c_prev[row], c[row]
        inner, out = gc_prev[row], gx[row]
        for j in range(cs.size):
            squashed, through = tanh(cs[j]), ghs[j] * o[j]
            go[j] = through * squashed * (ONE - o[j])
            inner[j] = through * (ONE - squashed * squashed)
        for j in range(cs.size):
            inner[j] += gcs[j]
            ga[j] = inner[j] * i[j] * (ONE - a[j] * a[j])
        for j in range(cs.size):
            gi[j] = inner[j] * a[j] * i[j] * (ONE - i[j])
        for j in range(cs.size):
            gf[j] = inner[j] * before[j] * f[j] * (ONE - f[j])
            inner[j] *= f[j]
        for j in range(cs.size):
            k = np.uintp(j) * FOUR
            out[k], out[k + N1], out[k + N2], out[k + N3] = ga[j], gi[j], gf[j], go[j]


@compiled
def _lstm_gradient(
    gc: Read2, gh: Read2, c_prev: Read2, c: Read2, gates: Read3, gc_prev: Write2, gx: Write2,
    start: int, stop: int,
) -> None:  # fmt: skip
    buffer = np.empty((4, c.shape[1]), c.dtype)
    lstm_gradient_rows(gc, gh, c_prev, c, gates, buffer, gc_prev, gx, start, stop)


def lstm(f: Any, xp: Any, c_prev: Array, x: Array) -> Any:
    """The step of a batch that does not shrink."""
    n, columns = x.shape[:2]
    if not suits(x, calls=MANY) or c_prev.shape != (n, columns // 4) or c_prev.dtype != x.dtype:
        return NotImplemented
    gates = np.empty((n, 4, columns // 4), x.dtype)
    c, h = (np.empty_like(c_prev, order="C") for _ in range(2))
    x, before = dense(x, c_prev)
    _divide(_lstm, x, before, gates, c, h)
    f.a, f.i, f.f, f.o = [gates[:, number] for number in range(4)]
    return c, h


def lstm_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    gates, c_prev, c = f.a.base, f._sources[0].data, f.data[0]
    if gates is None or f.o.base is not gates or gates.shape != (len(c), 4, *c.shape[1:]):
        return NotImplemented
    given = [np.zeros_like(c) if each is None else each for each in g]
    gc_prev, gx = np.empty_like(c, order="C"), np.empty((len(c), 4 * c.shape[1]), c.dtype)
    _divide(_lstm_gradient, *dense(*given, c_prev, c), gates, gc_prev, gx)
    return gc_prev, gx


# -- gated recurrent units -------------------------------------------------------------------------


@compiled
def _gru(h: Read2, x: Read3, q: Read3, gates: Write3, new: Write2, start: int, stop: int) -> None:
    """The blocks r, z and a of all units follow one another."""
    for row in range(start, stop):
        for k in range(2):
            xs, qs, gs = x[row, k], q[row, k], gates[row, k]
            for j in range(gs.size):
                gs[j] = sigmoid(xs[j] + qs[j])
        xs, qs, r, z, a = x[row, 2], q[row, 2], gates[row, 0], gates[row, 1], gates[row, 2]
        for j in range(a.size):
            a[j] = tanh(xs[j] + r[j] * qs[j])
        before, after = h[row], new[row]
        for j in range(a.size):
            after[j] = a[j] + z[j] * (before[j] - a[j])


@compiled
def _gru_gradient(
    g: Read2, h: Read2, q: Read3, gates: Read3, gh: Write2, gx: Write3, gq: Write3,
    start: int, stop: int,
) -> None:  # fmt: skip
    for row in range(start, stop):
        r, z, a, qa = gates[row, 0], gates[row, 1], gates[row, 2], q[row, 2]
        gs, before, ghs = g[row], h[row], gh[row]
        gr, gz, ga, gqa = gx[row, 0], gx[row, 1], gx[row, 2], gq[row, 2]
        for j in range(a.size):
            gz[j] = gs[j] * (before[j] - a[j]) * z[j] * (ONE - z[j])
        for j in range(a.size):
            ga[j] = gs[j] * (ONE - z[j]) * (ONE - a[j] * a[j])
            ghs[j] = gs[j] * z[j]
        for j in range(a.size):
            gr[j] = ga[j] * qa[j] * r[j] * (ONE - r[j])
            gqa[j] = ga[j] * r[j]
        for k in range(2):
            gxs, gqs = gx[row, k], gq[row, k]
            for j in range(gxs.size):
                gqs[j] = gxs[j]


def _blocks(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(len(array), 3, array.shape[1] // 3)


def gru(f: Any, xp: Any, h: Array, x: Array, q: Array) -> Any:
    """The new state."""
    if not suits(x, q, calls=MANY) or h.dtype != x.dtype or x.shape != (len(h), 3 * h.shape[1]):
        return NotImplemented
    x, q = _blocks(x), _blocks(q)
    gates, new = np.empty_like(x), np.empty_like(h, order="C")
    _divide(_gru, *dense(h), x, q, gates, new)
    f.r, f.z, f.a = [gates[:, number] for number in range(3)]
    return new


def gru_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """Gradients of the same."""
    gates, h, q = f.r.base, f._sources[0].data, f._sources[2].data
    if gates is None or f.a.base is not gates or gates.shape != (len(h), 3, h.shape[1]):
        return NotImplemented
    gh, gx, gq = np.empty_like(h, order="C"), np.empty_like(gates), np.empty_like(gates)
    _divide(_gru_gradient, *dense(g, h), _blocks(q), gates, gh, gx, gq)
    return gh, gx.reshape(q.shape), gq.reshape(q.shape)
