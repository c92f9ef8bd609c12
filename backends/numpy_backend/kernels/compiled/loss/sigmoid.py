"""The cross entropy of labels and sigmoids, element by element in one pass.

Labels are floats of the scores' dtype, as vectors have them: no other integer becomes 0, 1 or -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import formulas
from backends.numpy_backend.kernels.compiled.elementary import ONE, ZERO, exp, log1p, sigmoid
from backends.numpy_backend.kernels.compiler import (
    FLOATS,
    Array,
    Read1,
    Real,
    Write1,
    WriteInts,
    compiled,
    in_loops,
)
from backends.numpy_backend.sums import total

LEAST = 65536  # elements of a part
FEW = 16  # elements: of fewer the formula, of some fifteen calls, is looked through as soon


@compiled
def _losses(x: Read1, labels: Read1, y: Write1, outside: WriteInts, start: int, stop: int) -> None:
    """`log(1 + exp(x))`, of -x for the label 1, and 0 for -1."""
    x, labels, y = x[start:stop], labels[start:stop], y[start:stop]
    wrong = 0
    for i in range(x.size):
        label, value = labels[i], x[i]
        wrong += label != ZERO and abs(label) != ONE
        against = -value if label == ONE else value
        loss = (ZERO if against <= ZERO else against) + log1p(exp(-abs(value)))
        y[i] = ZERO if label < ZERO else loss
    if wrong:
        outside[0] = 1


@compiled
def _slopes(x: Read1, labels: Read1, gx: Write1, g: Real, start: int, stop: int) -> None:
    x, labels, gx = x[start:stop], labels[start:stop], gx[start:stop]
    for i in range(x.size):
        slope = g * (sigmoid(x[i]) - labels[i])
        gx[i] = ZERO if labels[i] < ZERO else slope


def _flat(x: Array, t: Array) -> tuple[Array, Array] | None:
    """Scores and labels in a row; None of other dtypes."""
    if x.dtype not in FLOATS:
        return None
    return np.ascontiguousarray(x).reshape(-1), np.ascontiguousarray(t, x.dtype).reshape(-1)


def _count(f: Any, labels: Array, t: Array, dtype: Any) -> Any:
    """What the formula divides by."""
    if f.normalize:
        return dtype.type(max(np.count_nonzero(labels != -1), 1))
    return dtype.type(f._count(np, t, dtype))


@in_loops
def sigmoid_cross_entropy(f: Any, xp: Any, x: Array, t: Array) -> Any:
    """The losses, or their sum over the count."""
    rows = _flat(x, t)
    if rows is None:
        return NotImplemented
    scores, labels = rows
    losses, outside = np.empty_like(scores), np.zeros(1, np.int32)
    parallel.divide(_losses, x.size, LEAST, scores, labels, losses, outside)
    if outside[0]:
        return NotImplemented  # the formula says which
    if f.reduce == "no":
        return losses.reshape(x.shape)
    y = np.empty((), x.dtype)
    y[...] = total(losses) / _count(f, labels, t, x.dtype)
    return y


@in_loops
def sigmoid_cross_entropy_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g (sigmoid(x) - t)`, by the count; that of each loss is the formula's."""
    x, t = [source.data for source in f._sources]
    if x.size < FEW:  # of g there may be one element, whatever it is the gradient of
        return NotImplemented
    rows = _flat(x, t) if f.reduce == "mean" else None
    if rows is None:
        return formulas.gradient(f, g, needs_grad) if x.size >= formulas.LEAST else NotImplemented
    scores, labels = rows
    gx = np.empty_like(scores)
    share = g.dtype.type(g) / _count(f, labels, t, x.dtype)
    parallel.divide(_slopes, x.size, LEAST, scores, labels, gx, share)
    return gx.reshape(x.shape), None


sigmoid_cross_entropy.least = FEW  # type: ignore[attr-defined]
