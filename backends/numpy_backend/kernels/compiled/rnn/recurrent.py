"""Single steps of long short-term memory, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.rnn.cells import LSTM
from backends.numpy_backend.kernels.compiler import MANY, Array, dense, suits

LEAST = 4096  # elements of the first array in a part


def divide(loop: Any, *args: Array) -> None:
    """A loop over the rows, in threads."""
    rows, columns = args[0].shape
    parallel.divide(loop, rows, -(-LEAST // max(columns, 1)), *args)


def lstm(f: Any, xp: Any, c_prev: Array, x: Array) -> Any:
    """The step of a batch that does not shrink."""
    n, columns = x.shape[:2]
    if not suits(x, calls=MANY) or c_prev.shape != (n, columns // 4) or c_prev.dtype != x.dtype:
        return NotImplemented
    gates = np.empty((n, 4, columns // 4), x.dtype)
    c, h = (np.empty_like(c_prev, order="C") for _ in range(2))
    x, before = dense(x, c_prev)
    divide(LSTM.step, x, x, before, gates, c, h)
    f.a, f.i, f.f, f.o = [gates[:, number] for number in range(4)]
    return c, h


def lstm_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    gates, c_prev, c = f.a.base, f._sources[0].data, f.data[0]
    if gates is None or f.o.base is not gates or gates.shape != (len(c), 4, *c.shape[1:]):
        return NotImplemented
    gc, gh = [np.zeros_like(c) if each is None else each for each in g]
    gc, gx = np.array(gc, c.dtype, order="C"), np.empty((len(c), 4 * c.shape[1]), c.dtype)
    gh, before, after = dense(gh, c_prev, c)
    divide(LSTM.step_back, gh, gc, before, after, gates, gx, gx, gc)
    return gc, gx
