"""Recurrent cells over a whole sequence: the weights of its steps are packed once.

Where rows suffice for all threads, each walks through all steps with some of them, and none waits
for another before the end. Else they share the product of each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backends.numpy_backend import parallel, products, sums
from backends.numpy_backend.kernels.compiled.products.packed import Packed
from backends.numpy_backend.kernels.compiled.rnn.cells import GRU, LSTM, RELU, TANH, Cell
from backends.numpy_backend.kernels.compiled.rnn.recurrent import divide
from backends.numpy_backend.kernels.compiler import Array, dense, suits
from core.registry.threads import num_threads

AGAIN = 4, 8  # rows and steps from which on it pays to pack W before them
SMALL = 1 << 13  # elements that are packed in the time that calling a step's loops takes
CALLS = 8  # of NumPy, in a step of the formula
SHORT = 1 << 20  # multiplications of a step, which is computed before another thread has its share
ROWS = 6  # of a thread, at least: as many as are multiplied at once
PART = 1 << 20  # multiplications of a thread, at least


def _pays(W: Array, steps: int, n: int) -> bool:
    """Whether W is packed."""
    return (n >= AGAIN[0] and steps >= AGAIN[1]) or W.size <= SMALL * steps


class _Weights:
    """What each step is multiplied by, and how threads share that."""

    def __init__(self, W: Array, steps: int, n: int) -> None:
        self._plain = W
        self._packed = Packed(W) if _pays(W, steps, n) else None
        self._parts = 0  # of the rows
        if self._packed is not None:
            least = max(ROWS, -(-PART // (W.size * steps)))
            parts = parallel.count(n, least, 1)
            self._parts = parts if parts == num_threads() or W.size * n < SHORT else 0

    def walked(self, loop: Any, *arrays: Array, rows: int) -> bool:
        """Whether each thread makes all steps, as `loop(*arrays, panels, across, 0, rows)` does."""
        if self._packed is not None and self._parts:
            given = (*arrays, self._packed.panels, self._packed.across, 0, rows)
            parallel.share(loop, given, self._parts)
        return self._parts > 0

    def add_product(self, a: Array, c: Array) -> None:
        """`c += a @ W`, which all share."""
        if self._packed is None:
            np.add(c, products.matmul(a, self._plain), out=c)
        else:
            self._packed.add_product(a, c)


def _forward(cell: Cell, firsts: Sequence[Array], x: Array, W: Array, b: Any = None) -> Any:
    """The states of all steps and the gates; None for other arrays."""
    steps, n, columns = x.shape
    units = columns // cell.blocks
    others = [W] if b is None else [W, b]
    if {x.dtype} != {array.dtype for array in (*firsts, *others)} or W.shape != (
        cell.blocks * units,
        units,
    ):
        return None
    if {first.shape for first in firsts} != {(n, units)} or W.shape[0] != columns or not steps:
        return None
    if not suits(x if _pays(W, steps, n) else x[0], calls=CALLS):
        return None
    states = np.empty((len(firsts), steps + 1, n, units), x.dtype)
    states[:, 0] = firsts
    h, c = states[0], states[-1]
    gates, z = np.empty((steps, n, cell.kept, units), x.dtype), np.empty((n, columns), x.dtype)
    (x,) = dense(x)
    given = x if b is None else dense(b)[0].reshape(1, 1, columns)
    weights = _Weights(W.T, steps, n)
    if not weights.walked(cell.walk, given, x, z, gates, c, h, rows=n):
        for t in range(steps):
            z[...] = given[t % len(given)]
            weights.add_product(h[t], z)
            divide(cell.step, z, x[t], c[t], gates[t], c[t + 1], h[t + 1])
    return states[:, 1:], gates


def _backward(
    cell: Cell,
    g: Any,
    gc: Any,
    firsts: Sequence[Array],
    states: Sequence[Array],
    gates: Any,
    W: Array,
) -> Any:
    """The gradients of the first states, of x, W and the products; None for other arrays."""
    (steps, n, units), dtype = states[0].shape, states[0].dtype
    columns = cell.blocks * units
    if W.dtype != dtype or not suits(states[0], calls=CALLS * cell.blocks):
        return None
    gh, gx = np.zeros((steps + 1, n, units), dtype), np.empty((steps, n, columns), dtype)
    gq = np.empty_like(gx) if cell.apart else gx
    if g is not None:
        gh[1:] = g
    gc = np.zeros((n, units), dtype) if gc is None else np.array(gc, dtype, order="C")
    befores = [
        np.concatenate([first[None], all_[:-1]]) for first, all_ in zip(firsts, states, strict=True)
    ]
    before, after, gates = dense(befores[-1], states[-1], gates)
    weights = _Weights(W, steps, n)
    if not weights.walked(cell.walk_back, gh, gc, before, after, gates, gx, gq, rows=n):
        for t in reversed(range(steps)):
            of_states = gh[t + 1], gc, before[t], after[t]
            divide(cell.step_back, *of_states, gates[t], gx[t], gq[t], gh[t])
            weights.add_product(gq[t], gh[t])
    rows = gq.reshape(steps * n, columns).T
    return gh[0], gc, gx, products.matmul(rows, befores[0].reshape(steps * n, units)), gq


# -- what offers them ------------------------------------------------------------------------------


def lstm_sequence(f: Any, xp: Any, h_first: Array, c_first: Array, x: Array, W: Array) -> Any:
    """All outputs and the last state of the cells."""
    found = _forward(LSTM, (h_first, c_first), x, W)
    if found is None:
        return NotImplemented
    (h, f.c), f.gates = found
    return h, f.c[-1]


def lstm_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, c_first, _, W = [source.data for source in f._sources]
    gh, gc = g
    found = _backward(LSTM, gh, gc, (h_first, c_first), (f.data[0], f.c), f.gates, W)
    return NotImplemented if found is None else found[:4]


def gru_sequence(f: Any, xp: Any, h_first: Array, x: Array, W: Array, b: Array) -> Any:
    """All outputs."""
    found = _forward(GRU, (h_first,), x, W, b)
    if found is None:
        return NotImplemented
    (h,), f.gates = found
    return h


def gru_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, _, W, _ = [source.data for source in f._sources]
    found = _backward(GRU, g, None, (h_first,), (f.data,), f.gates, W)
    if found is None:
        return NotImplemented
    gh, _, gx, gW, gq = found
    return gh, gx, gW, sums.total(gq, axis=(0, 1))


def tanh_sequence(f: Any, xp: Any, h_first: Array, x: Array, W: Array) -> Any:
    """All outputs."""
    return _simple(TANH, h_first, x, W)


def relu_sequence(f: Any, xp: Any, h_first: Array, x: Array, W: Array) -> Any:
    """All outputs."""
    return _simple(RELU, h_first, x, W)


def tanh_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    return _simple_gradient(TANH, f, g)


def relu_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    return _simple_gradient(RELU, f, g)


def _simple(cell: Cell, h_first: Array, x: Array, W: Array) -> Any:
    found = _forward(cell, (h_first,), x, W)
    return NotImplemented if found is None else found[0][0]


def _simple_gradient(cell: Cell, f: Any, g: Array) -> Any:
    (h_first, _, W), h = [source.data for source in f._sources], f.data
    nothing = np.empty((*h.shape[:2], 0, h.shape[2]), h.dtype)
    found = _backward(cell, g, None, (h_first,), (h,), nothing, W)
    return NotImplemented if found is None else (found[0], found[2], found[3])
