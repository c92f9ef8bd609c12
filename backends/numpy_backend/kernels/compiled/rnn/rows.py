"""What recurrent cells do with a row: activations of the gates, and what follows from them.

All cells have the same arguments. Forward: `z`, the sums that go into the gates, `x`, the state
`before`, the `gates` that are kept, dense, and the states after, `c` and the output `h`. Backward:
the gradients `gh` of the output and `gc` of c, in whose place that of the state before comes, both
states, the gates, `buffer`, whose rows are of use, and the gradients of x and of the product of the
state before, `gx` and `gq`; to `through` is added what does not come through that product. States
and gradients that a cell has not are the output's, or anything.

The passes over a row are loops of their own: with more arrays a compiler that has to tell them
apart gives up on vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiled.elementary import ONE, ZERO, sigmoid, tanh
from backends.numpy_backend.kernels.compiler import inlined_exactly

FOUR, N1, N2, N3 = np.uintp(4), np.uintp(1), np.uintp(2), np.uintp(3)

# -- long short-term memory ------------------------------------------------------------------------


@inlined_exactly
def lstm(z: Any, x: Any, before: Any, gates: Any, c: Any, h: Any, start: int, stop: int) -> None:
    """Columns of z are a, i, f and o in turn; those are kept."""
    for row in range(start, stop):
        a, i, f, o = gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        zs, c_prev, cs, hs = z[row], before[row], c[row], h[row]
        for j in range(cs.size):
            k = np.uintp(j) * FOUR
            a[j], i[j], f[j], o[j] = zs[k], zs[k + N1], zs[k + N2], zs[k + N3]
        for j in range(cs.size):
            a[j] = tanh(a[j])
        for number in range(1, 4):
            squashed = gates[row, number]
            for j in range(cs.size):
                squashed[j] = sigmoid(squashed[j])
        for j in range(cs.size):
            cs[j] = a[j] * i[j] + f[j] * c_prev[j]
        for j in range(cs.size):
            hs[j] = o[j] * tanh(cs[j])


@inlined_exactly
def lstm_back(
    gh: Any, gc: Any, before: Any, c: Any, gates: Any, buffer: Any, gx: Any, gq: Any, through: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Gradients of the same; that of the product is that of x."""
    for row in range(start, stop):
        a, i, f, o = gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        ga, gi, gf, go, inner = buffer[0], buffer[1], buffer[2], buffer[3], buffer[4]
        gcs, ghs, c_prev, cs, out = gc[row], gh[row], before[row], c[row], gx[row]
        for j in range(cs.size):
            squashed, given = tanh(cs[j]), ghs[j] * o[j]
            go[j] = given * squashed * (ONE - o[j])
            inner[j] = given * (ONE - squashed * squashed)
        for j in range(cs.size):
            inner[j] += gcs[j]
            ga[j] = inner[j] * i[j] * (ONE - a[j] * a[j])
        for j in range(cs.size):
            gi[j] = inner[j] * a[j] * i[j] * (ONE - i[j])
        for j in range(cs.size):
            gf[j] = inner[j] * c_prev[j] * f[j] * (ONE - f[j])
            gcs[j] = inner[j] * f[j]
        for j in range(cs.size):
            k = np.uintp(j) * FOUR
            out[k], out[k + N1], out[k + N2], out[k + N3] = ga[j], gi[j], gf[j], go[j]


# -- gated recurrent units -------------------------------------------------------------------------


@inlined_exactly
def gru(z: Any, x: Any, before: Any, gates: Any, c: Any, h: Any, start: int, stop: int) -> None:
    """The blocks r, z and a of x and of the product z; kept are r, z, the product's last, and a."""
    for row in range(start, stop):
        h_prev, after, xs, qs = before[row], h[row], x[row], z[row]
        units = after.size
        for k in range(2):
            gs, own, more = gates[row, k], xs[k * units :], qs[k * units :]
            for j in range(gs.size):
                gs[j] = sigmoid(own[j] + more[j])
        r, u, qa, a = gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        own, more = xs[2 * units :], qs[2 * units :]
        for j in range(a.size):
            qa[j] = more[j]
        for j in range(a.size):
            a[j] = tanh(own[j] + r[j] * qa[j])
        for j in range(a.size):
            after[j] = a[j] + u[j] * (h_prev[j] - a[j])


@inlined_exactly
def gru_back(
    gh: Any, gc: Any, before: Any, c: Any, gates: Any, buffer: Any, gx: Any, gq: Any, through: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Gradients of the same."""
    for row in range(start, stop):
        r, u, qa, a = gates[row, 0], gates[row, 1], gates[row, 2], gates[row, 3]
        gr, gu, ga, gs = buffer[0], buffer[1], buffer[2], gh[row]
        h_prev, more, units = before[row], through[row], a.size
        for j in range(a.size):
            gu[j] = gs[j] * (h_prev[j] - a[j]) * u[j] * (ONE - u[j])
        for j in range(a.size):
            ga[j] = gs[j] * (ONE - u[j]) * (ONE - a[j] * a[j])
            more[j] += gs[j] * u[j]
        for j in range(a.size):
            gr[j] = ga[j] * qa[j] * r[j] * (ONE - r[j])
        for k in range(3):
            of_x, of_q, given = gx[row, k * units :], gq[row, k * units :], buffer[k]
            for j in range(a.size):
                of_x[j] = given[j]
            for j in range(a.size):
                of_q[j] = given[j] if k < 2 else given[j] * r[j]


# -- simple recurrent units ------------------------------------------------------------------------


@inlined_exactly
def hyperbolic(
    z: Any, x: Any, before: Any, gates: Any, c: Any, h: Any, start: int, stop: int
) -> None:
    """The hyperbolic tangent of z, of which nothing is kept."""
    for row in range(start, stop):
        zs, hs = z[row], h[row]
        for j in range(hs.size):
            hs[j] = tanh(zs[j])


@inlined_exactly
def hyperbolic_back(
    gh: Any, gc: Any, before: Any, c: Any, gates: Any, buffer: Any, gx: Any, gq: Any, through: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Gradients of the same; that of the product is that of x."""
    for row in range(start, stop):
        gs, hs, out = gh[row], c[row], gx[row]
        for j in range(hs.size):
            out[j] = gs[j] * (ONE - hs[j] * hs[j])


@inlined_exactly
def rectified(
    z: Any, x: Any, before: Any, gates: Any, c: Any, h: Any, start: int, stop: int
) -> None:
    """The positive ones of z, and zeros; nothing is kept."""
    for row in range(start, stop):
        zs, hs = z[row], h[row]
        for j in range(hs.size):
            hs[j] = ZERO if zs[j] < ZERO else zs[j]


@inlined_exactly
def rectified_back(
    gh: Any, gc: Any, before: Any, c: Any, gates: Any, buffer: Any, gx: Any, gq: Any, through: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Gradients of the same; that of the product is that of x."""
    for row in range(start, stop):
        gs, hs, out = gh[row], c[row], gx[row]
        for j in range(hs.size):
            out[j] = gs[j] if hs[j] > ZERO else ZERO
