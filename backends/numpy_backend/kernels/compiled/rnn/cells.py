"""Loops over a recurrent cell, written once for all cells: one step, and all steps of some rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend.kernels.compiled.products.packed import add_packed
from backends.numpy_backend.kernels.compiled.rnn import rows
from backends.numpy_backend.kernels.compiler import (
    Compiled,
    Read1,
    Read2,
    Read3,
    Read4,
    Write2,
    Write3,
    Write4,
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
    given: Read3, x: Read3, z: Write2, gates: Write4, c: Write3, h: Write3,
    panels: Read1, across: int, start: int, stop: int,
) -> None:  # fmt: skip
    """All steps forward, from the first states in c[0] and h[0].

    Sums begin as what is given, for each step or once for all rows of all steps.
    """
    n, columns, units = z.shape[0], z.shape[1], h.shape[2]
    by_step, by_row = int(given.shape[0] > 1), int(given.shape[1] > 1)
    for t in range(x.shape[0]):
        for row in range(start, stop):
            sums, first = z[row], given[t * by_step, row * by_row]
            for j in range(columns):
                sums[j] = first[j]
        place = (t * n + start) * units
        add_packed(z, start * columns, columns, h, place, units, panels, across, stop - start)
        forward(z, x[t], c[t], gates[t], c[t + 1], h[t + 1], start, stop)


def walk_back(
    gh: Write3, gc: Write2, before: Read3, after: Read3, gates: Read4, gx: Write3, gq: Write3,
    panels: Read1, across: int, start: int, stop: int,
) -> None:  # fmt: skip
    """All steps backward. To gh[t] is added what comes from gh[t + 1]."""
    steps, n, columns, units = gx.shape[0], gx.shape[1], gx.shape[2], gh.shape[2]
    buffer = np.empty((BUFFER, units), gh.dtype)
    for last in range(steps):
        t = steps - 1 - last
        backward(
            gh[t + 1], gc, before[t], after[t], gates[t], buffer, gx[t], gq[t], gh[t], start, stop
        )
        place, first = (t * n + start) * units, (t * n + start) * columns
        add_packed(gh, place, units, gq, first, columns, panels, across, stop - start)


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
