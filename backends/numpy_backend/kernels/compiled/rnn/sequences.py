"""Recurrent cells over whole sequences: the weights of their steps are packed once.

Where there are enough for all threads, each walks through all steps of some sequences, and none
waits for another before the end. Else they share the product of each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backends.numpy_backend import parallel, products, sums
from backends.numpy_backend.kernels.compiled.products.packed import Packed
from backends.numpy_backend.kernels.compiled.rnn.cells import GRU, LSTM, RELU, TANH, Cell
from backends.numpy_backend.kernels.compiled.rnn.recurrent import divide
from backends.numpy_backend.kernels.compiler import MANY, Array, dense, suits
from core.registry.threads import num_threads

AGAIN = 4, 8  # rows and steps from which on it pays to pack W before them
SMALL = 1 << 13  # elements that are packed in the time that calling a step's loops takes
SHORT = 1 << 20  # multiplications of a step, which is computed before another thread has its share
ROWS = 6  # of a thread, at least: as many as are multiplied at once
PART = 1 << 20  # multiplications of a thread, at least


def _pays(W: Array, steps: int, rows: int) -> bool:
    """Whether W is packed."""
    return (rows >= AGAIN[0] * steps and steps >= AGAIN[1]) or W.size <= SMALL * steps


class _Steps:
    """What the rows of each step are multiplied by, where they lie, and how threads share that."""

    def __init__(self, blocks: tuple[tuple[int, int], ...], n: int, W: Array) -> None:
        self._blocks = blocks
        self._plain = W
        rows = sum([size for _, size in blocks])
        self._packed = Packed(W) if _pays(W, len(blocks), rows) else None
        self._bounds: Array | None = None  # of the sequences that threads make all steps of
        if self._packed is None:
            return
        least = max(ROWS, -(-PART // (W.size * len(blocks))))
        parts = parallel.count(n, least, 1)
        if parts == num_threads() or W.size * n < SHORT:
            self._begun, self._sizes = np.array(blocks, np.intp).T.copy()
            self._bounds = _bounds(self._sizes, n, parts)

    def walked(self, loop: Any, *arrays: Array) -> bool:
        """Whether threads make all steps of their sequences, and so have called the loop."""
        if self._packed is None or self._bounds is None:
            return False
        places = self._begun, self._sizes, self._bounds
        parts = len(self._bounds) - 1
        given = (*arrays, *places, self._packed.panels, self._packed.across, 0, parts)
        parallel.share(loop, given, parts)
        return True

    def each(self) -> list[tuple[slice, slice]]:
        """For each step the sequences that take part in it, and their rows."""
        return [(slice(size), slice(start, start + size)) for start, size in self._blocks]

    def add_product(self, a: Array, c: Array) -> None:
        """`c += a @ W`, which all share."""
        if self._packed is None:
            np.add(c, products.matmul(a, self._plain), out=c)
        else:
            self._packed.add_product(a, c)


def _bounds(sizes: Array, n: int, parts: int) -> Array:
    """Where parts of n sequences begin, and the end: all have about as many rows."""
    if parts == 1:
        return np.array([0, n])
    lengths = (sizes[:, None] > np.arange(n)).sum(axis=0)
    ends = np.cumsum([0, *lengths])
    found: Array = np.searchsorted(ends, np.arange(parts + 1) * ends[-1] // parts)
    return found


def _forward(
    f: Any, cell: Cell, firsts: Sequence[Array], x: Array, W: Array, b: Array | None = None
) -> Any:
    """The states of all rows, the last ones, and the gates; None for other arrays."""
    (rows, columns), n = x.shape, len(firsts[0])
    units = columns // cell.blocks
    others = [W] if b is None else [W, b]
    if {x.dtype} != {array.dtype for array in (*firsts, *others)} or W.shape != (columns, units):
        return None
    if {first.shape for first in firsts} != {(n, units)} or cell.blocks * units != columns:
        return None
    blocks = f.blocks(n, rows)
    if sum([size for _, size in blocks]) != rows:
        return None
    if not suits(x if _pays(W, len(blocks), rows) else x[:n], calls=MANY):
        return None
    states, last = np.empty((len(firsts), rows, units), x.dtype), np.array(firsts, order="C")
    h, c, h_last, c_last = states[0], states[-1], last[0], last[-1]
    gates, z = np.empty((rows, cell.kept, units), x.dtype), np.empty((n, columns), x.dtype)
    (x,) = dense(x)
    given = x if b is None else dense(b)[0].reshape(1, columns)
    steps = _Steps(blocks, n, W.T)
    if not steps.walked(cell.walk, given, x, z, gates, c, h, c_last, h_last):
        for run, at in steps.each():
            z[run] = given if b is not None else x[at]
            steps.add_product(h_last[run], z[run])
            divide(cell.step, z[run], x[at], c_last[run], gates[at], c[at], h[at])
            last[:, run] = states[:, at]
    return states, last, gates


def _backward(
    f: Any,
    cell: Cell,
    g: Sequence[Any],
    firsts: Sequence[Array],
    states: Sequence[Array],
    gates: Any,
    W: Array,
) -> Any:
    """The gradients of the first states, of x, W and the products; None for other arrays."""
    (rows, units), dtype, n = states[0].shape, states[0].dtype, len(firsts[0])
    columns = cell.blocks * units
    blocks = f.blocks(n, rows)
    if W.dtype != dtype or not suits(states[0], calls=MANY * cell.blocks):
        return None
    g_all, *others = g
    given = np.zeros((1, units), dtype) if g_all is None else np.asarray(g_all, dtype, order="C")
    last = [
        np.zeros((n, units), dtype) if each is None else np.array(each, dtype, order="C")
        for each in others
    ]
    gh, gc, gs = last[0], last[-1], np.empty((n, units), dtype)
    gx = np.empty((rows, columns), dtype)
    gq = np.empty_like(gx) if cell.apart else gx
    befores = [f.before(np, *each) for each in zip(firsts, states, strict=True)]
    before, after, gates = dense(befores[-1], states[-1], gates)
    steps = _Steps(blocks, n, W)
    if not steps.walked(cell.walk_back, given, gs, gh, gc, before, after, gates, gx, gq):
        for run, at in reversed(steps.each()):
            np.add(gh[run], given[at] if g_all is not None else given, out=gs[run])
            gh[run] = 0
            of_states = gs[run], gc[run], before[at], after[at]
            divide(cell.step_back, *of_states, gates[at], gx[at], gq[at], gh[run])
            steps.add_product(gq[at], gh[run])
    return [*last, gx, products.matmul(gq.T, befores[0])], gq


# -- what offers them ------------------------------------------------------------------------------


def lstm_sequence(f: Any, xp: Any, h_first: Array, c_first: Array, x: Array, W: Array) -> Any:
    """All outputs and the last states."""
    found = _forward(f, LSTM, (h_first, c_first), x, W)
    if found is None:
        return NotImplemented
    (h, f.c), last, f.gates = found
    return h, *last


def lstm_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, c_first, _, W = [source.data for source in f._sources]
    found = _backward(f, LSTM, g, (h_first, c_first), (f.data[0], f.c), f.gates, W)
    return NotImplemented if found is None else tuple(found[0])


def gru_sequence(f: Any, xp: Any, h_first: Array, x: Array, W: Array, b: Array) -> Any:
    """All outputs and the last ones."""
    found = _forward(f, GRU, (h_first,), x, W, b)
    if found is None:
        return NotImplemented
    (h,), (last,), f.gates = found
    return h, last


def gru_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, _, W, _ = [source.data for source in f._sources]
    found = _backward(f, GRU, g, (h_first,), (f.data[0],), f.gates, W)
    return NotImplemented if found is None else (*found[0], sums.total(found[1], axis=0))


def tanh_sequence(f: Any, xp: Any, h_first: Array, x: Array, W: Array) -> Any:
    """All outputs and the last ones."""
    return _simple(f, TANH, h_first, x, W)


def relu_sequence(f: Any, xp: Any, h_first: Array, x: Array, W: Array) -> Any:
    """All outputs and the last ones."""
    return _simple(f, RELU, h_first, x, W)


def tanh_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    return _simple_gradient(f, TANH, g)


def relu_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    return _simple_gradient(f, RELU, g)


def _simple(f: Any, cell: Cell, h_first: Array, x: Array, W: Array) -> Any:
    found = _forward(f, cell, (h_first,), x, W)
    return NotImplemented if found is None else (found[0][0], found[1][0])


def _simple_gradient(f: Any, cell: Cell, g: Any) -> Any:
    (h_first, _, W), h = [source.data for source in f._sources], f.data[0]
    nothing = np.empty((len(h), 0, h.shape[1]), h.dtype)
    found = _backward(f, cell, g, (h_first,), (h,), nothing, W)
    return NotImplemented if found is None else tuple(found[0])
