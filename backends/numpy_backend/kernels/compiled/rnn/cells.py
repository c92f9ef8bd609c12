"""Loops over a recurrent cell, written once for all cells: one step, and all of some sequences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend.kernels.compiled.elementary import ZERO
from backends.numpy_backend.kernels.compiled.products.packed import add_packed
from backends.numpy_backend.kernels.compiled.rnn import rows
from backends.numpy_backend.kernels.compiler import (
    Compiled,
    Indices,
    Read1,
    Read2,
    Read3,
    Write2,
    Write3,
    compiled_with,
)

forward: Any = None  # a cell's, of rows.py
backward: Any = None
BUFFER = 5  # rows


def step(
    z: Read2, x: Read2, before: Read2, gates: Write3, c: Write2, h: Write2, start: int, stop: int
) -> None:
    """One step forward."""
    forward(z, x, before, gates, c, h, start, stop)


def step_back(
    gh: Read2, gc: Write2, before: Read2, after: Read2, gates: Read3, gx: Write2, gq: Write2,
    through: Write2, start: int, stop: int,
) -> None:  # fmt: skip
    """One step backward."""
    buffer = np.empty((BUFFER, after.shape[1]), after.dtype)
    backward(gh, gc, before, after, gates, buffer, gx, gq, through, start, stop)


def walk(
    given: Read2, x: Read2, z: Write2, gates: Write3, c_all: Write2, h_all: Write2, c: Write2,
    h: Write2, begun: Indices, sizes: Indices, bounds: Indices, panels: Read1, across: int,
    start: int, stop: int,
) -> None:  # fmt: skip
    """All steps forward of some parts, which have the sequences between two bounds.

    The rows of a step lie where it has `begun`. c and h are the states, at first those before all
    steps. Sums begin as what is given, for each row or once for all.
    """
    columns, units, by_row = z.shape[1], h.shape[1], int(given.shape[0] > 1)
    for part in range(start, stop):
        low = bounds[part]
        for step in range(sizes.size):
            high, place = min(bounds[part + 1], sizes[step]), begun[step]
            if low >= high:
                continue
            for row in range(low, high):
                sums, first = z[row], given[(place + row) * by_row]
                for j in range(columns):
                    sums[j] = first[j]
            add_packed(z, low * columns, columns, h, low * units, units, panels, across, high - low)
            cs, hs = c_all[place:], h_all[place:]
            forward(z, x[place:], c, gates[place:], cs, hs, low, high)
            for row in range(low, high):
                last, new = c[row], cs[row]
                for j in range(units):
                    last[j] = new[j]
                last, new = h[row], hs[row]
                for j in range(units):
                    last[j] = new[j]


def walk_back(
    given: Read2, gs: Write2, gh: Write2, gc: Write2, before: Read2, after: Read2, gates: Read3,
    gx: Write2, gq: Write2, begun: Indices, sizes: Indices, bounds: Indices, panels: Read1,
    across: int, start: int, stop: int,
) -> None:  # fmt: skip
    """All steps backward of some parts. gh and gc are the gradients of states, at first the last.

    To those of the output is added what is given, for each row or once for all.
    """
    columns, units, by_row = gx.shape[1], gh.shape[1], int(given.shape[0] > 1)
    buffer = np.empty((BUFFER, units), gh.dtype)
    for part in range(start, stop):
        low = bounds[part]
        for earlier in range(sizes.size):
            step = sizes.size - 1 - earlier
            high, place = min(bounds[part + 1], sizes[step]), begun[step]
            if low >= high:
                continue
            for row in range(low, high):
                sums, own, more = gs[row], gh[row], given[(place + row) * by_row]
                for j in range(units):
                    sums[j] = own[j] + more[j]
                for j in range(units):
                    own[j] = ZERO
            of_x, of_q, at = gx[place:], gq[place:], (place + low) * columns
            old, new, kept = before[place:], after[place:], gates[place:]
            backward(gs, gc, old, new, kept, buffer, of_x, of_q, gh, low, high)
            add_packed(gh, low * units, units, gq, at, columns, panels, across, high - low)


class Cell(NamedTuple):
    """A cell's loops. Of its sums there are `blocks` for each unit, of its gates `kept`.

    `apart` has a cell whose product of the state is not simply added to x.
    """

    blocks: int
    kept: int
    apart: bool
    step: Compiled
    step_back: Compiled
    walk: Compiled
    walk_back: Compiled


def _cell(blocks: int, kept: int, ahead: Any, back: Any, apart: bool = False) -> Cell:
    name = ahead.function.__name__
    loops = [
        compiled_with(loop, f"{name}_{loop.__name__}", forward=ahead, backward=back)
        for loop in (step, step_back, walk, walk_back)
    ]
    return Cell(blocks, kept, apart, *loops)


LSTM = _cell(4, 4, rows.lstm, rows.lstm_back)
GRU = _cell(3, 4, rows.gru, rows.gru_back, apart=True)
TANH = _cell(1, 0, rows.hyperbolic, rows.hyperbolic_back)
RELU = _cell(1, 0, rows.rectified, rows.rectified_back)
