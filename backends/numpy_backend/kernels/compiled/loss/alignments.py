"""The loss of all alignments of labels and steps, and its gradient: each sequence in one go.

Where a sequence is depends on its step before alone, place by place: so the places of a step are
what vectorises. Sums of two probabilities take one exponential and one logarithm each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import FLOAT, ONE, ZERO, exp, log1p
from backends.numpy_backend.kernels.compiled.loss.softmax import greatest
from backends.numpy_backend.kernels.compiler import (
    MANY,
    SUMS,
    Array,
    Indices,
    Indices2,
    Read1,
    Read2,
    Read3,
    Write1,
    Write2,
    Write3,
    WriteInts,
    compiled,
    dense,
    inlined_exactly,
    inlined_sum,
    number,
    suits,
)

LEAST = 16384  # elements of a part
LANES = 16  # as many as a vector may have
_NOTHING = number(-1e30)  # the formula's logarithm of 0


@inlined_exactly
def log_add(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)) of finite numbers; NaN of NaN."""
    greater, lesser = (a, b) if a > b else (b, a)
    return greater + log1p(exp(lesser - greater))


@inlined_exactly
def _log_of_share(score: Any, top: Any, log_total: Any) -> Any:
    """Scores are compared first: they are of one size, so that nothing is lost for huge ones."""
    log = score - top - log_total
    return _NOTHING if log < _NOTHING else log


@inlined_exactly
def lay_out(labels: Any, count: Any, blank: Any, classes: Any, symbols: Any, skips: Any) -> Any:
    """The symbols of a path, and what it costs to skip to each of them.

    Gives how many places there are, and whether all labels that count exist.
    """
    known = min(max(count, 0), labels.size)
    exist = known == count
    for j in range(known):
        label = labels[j]
        if not 0 <= label < classes:
            label, exist = blank, False
        symbols[2 * j], symbols[2 * j + 1] = blank, label
    symbols[2 * known] = blank
    for s in range(2 * known + 1):
        skips[s] = _NOTHING if s < 2 or symbols[s] == symbols[s - 2] else ZERO
    return 2 * known + 1, exist


@inlined_sum
def share_out(logs: Any) -> Any:
    """Exponentials of logarithms by their sum, in their place; gives the logarithm of the sum."""
    top, total = greatest(logs), ZERO
    for s in range(logs.size):
        logs[s] = exp(logs[s] - top)
        total += logs[s]
    share = ONE / total
    for s in range(logs.size):
        logs[s] *= share
    return top + FLOAT(np.log(total))


@compiled(fastmath=SUMS)
def _totals(
    x: Read2, inputs: Indices, tops: Write1, log_total: Write1, start: int, stop: int
) -> None:
    """Maxima and logarithms of the sums of exp(x - maximum), where the input is not over."""
    n = inputs.size
    for r in range(start, stop):
        if r // n < inputs[r % n]:
            row = x[r]
            top, total = greatest(row), ZERO
            for k in range(row.size):
                total += exp(row[k] - top)
            tops[r], log_total[r] = top, np.log(total)


@compiled
def _forward(
    x: Read3, t: Indices2, inputs: Indices, labels: Indices, tops: Read2, log_total: Read2,
    alphas: Write3, loss: Write1, outside: WriteInts, blank: int, start: int, stop: int,
) -> None:  # fmt: skip
    """The formula's alphas, and the losses."""
    steps, classes, places = x.shape[0], x.shape[2], alphas.shape[2]
    room = places + LANES
    symbols, skips = np.empty(room, np.intp), np.empty(room, alphas.dtype)
    here, before = np.empty(room, alphas.dtype), np.empty(room + 2, alphas.dtype)
    for i in range(start, stop):
        skips[:], here[:], before[:] = _NOTHING, _NOTHING, _NOTHING
        size, exist = lay_out(t[i], labels[i], blank, classes, symbols, skips)
        wide = -(-size // LANES) * LANES  # whole vectors: what is behind a path stays as it is
        if not exist or not 0 <= inputs[i] <= steps:
            outside[0] = 1
        before[2], lost = ZERO, np.float64(0.0)
        for step in range(steps):
            if step < inputs[i]:
                row, top, total = x[step, i], tops[step, i], log_total[step, i]
                for s in range(size):
                    here[s] = row[symbols[s]]
                for s in range(wide):
                    come = log_add(before[s + 2], before[s + 1])
                    come = log_add(come, before[s] + skips[s])
                    here[s] = come + _log_of_share(here[s], top, total)
                best = greatest(here[:wide])
                for s in range(wide):
                    before[s + 2] = here[s] - best
                here[size:wide] = _NOTHING
                before[size + 2 : wide + 2] = _NOTHING
                lost += best
            kept = alphas[step, i]
            for s in range(places):
                kept[s] = before[s + 2]
        loss[i] = -(lost + share_out(before[size : size + 2]))


@compiled(fastmath=SUMS)
def _shares(
    x: Read2, inputs: Indices, factor: Read1, tops: Write1, log_total: Write1, gx: Write2,
    start: int, stop: int,
) -> None:  # fmt: skip
    """The softmax times the factors, 0 where the input is over; and what `_totals` gives."""
    n = inputs.size
    for r in range(start, stop):
        out = gx[r]
        if r // n < inputs[r % n]:
            row = x[r]
            top, total = greatest(row), ZERO
            for k in range(row.size):
                out[k] = exp(row[k] - top)
                total += out[k]
            share = factor[r % n] / total
            for k in range(row.size):
                out[k] *= share
            tops[r], log_total[r] = top, np.log(total)
        else:
            for k in range(out.size):
                out[k] = ZERO


@compiled
def _backward(
    x: Read3, t: Indices2, inputs: Indices, labels: Indices, tops: Read2, log_total: Read2,
    alphas: Read3, factor: Read1, gx: Write3, blank: int, start: int, stop: int,
) -> None:  # fmt: skip
    """Take the probability of being at each symbol from its share."""
    classes, places = x.shape[2], alphas.shape[2]
    room = places + LANES
    symbols, skips = np.empty(room, np.intp), np.empty(room + 2, alphas.dtype)
    beta, there = np.empty(room, alphas.dtype), np.empty(room, alphas.dtype)
    gone = np.empty(room + 2, alphas.dtype)
    for i in range(start, stop):
        skips[:], beta[:], gone[:] = _NOTHING, _NOTHING, _NOTHING
        size, _ = lay_out(t[i], labels[i], blank, classes, symbols, skips)
        wide = -(-size // LANES) * LANES
        beta[max(size - 2, 0) : size] = ZERO
        for step in range(min(inputs[i], x.shape[0]) - 1, -1, -1):
            here, row, out = alphas[step, i], x[step, i], gx[step, i]
            there[size:wide] = _NOTHING
            for s in range(size):
                there[s] = here[s] + beta[s]
            share_out(there[:wide])
            for s in range(size):
                out[symbols[s]] -= factor[i] * there[s]
                there[s] = row[symbols[s]]
            top, total = tops[step, i], log_total[step, i]
            for s in range(size):
                gone[s] = beta[s] + _log_of_share(there[s], top, total)
            for s in range(wide):
                skipped = gone[s + 2] + skips[s + 2]
                beta[s] = log_add(log_add(gone[s], gone[s + 1]), skipped)
            best = greatest(beta[:wide])
            for s in range(wide):
                beta[s] -= best
            beta[size:wide] = _NOTHING


# -- what offers them ------------------------------------------------------------------------------


def _suits(x: Array, t: Array, *lengths: Array) -> bool:
    fit = x.ndim == 3 and t.ndim == 2  # where checks are off they may not
    fit = fit and all([n == x.shape[1:2] for n in (t.shape[:1], *[a.shape for a in lengths])])
    return fit and suits(x, calls=MANY)


def _numbers(*arrays: Array) -> list[Array]:
    return [np.ascontiguousarray(a, np.intp) for a in arrays]


def ctc(f: Any, xp: Any, x: Array, t: Array, input_length: Array, label_length: Array) -> Any:
    """The losses, or their mean."""
    if not _suits(x, t, input_length, label_length):
        return NotImplemented
    (steps, n, classes), places = x.shape, 2 * t.shape[1] + 1
    (x,), (t, length, count) = dense(x), _numbers(t, input_length, label_length)
    tops, log_total = np.empty((2, steps, n), x.dtype)
    alphas, loss = np.empty((steps, n, places), x.dtype), np.empty(n, x.dtype)
    rows, outside = x.reshape(-1, classes), np.zeros(1, np.int32)
    given = rows, length, tops.reshape(-1), log_total.reshape(-1)
    parallel.divide(_totals, len(rows), -(-LEAST // classes), *given)
    known = x, t, length, count, tops, log_total, alphas, loss, outside, f.blank_symbol
    parallel.divide(_forward, n, -(-LEAST // (steps * places)), *known)
    if outside[0]:
        return NotImplemented  # whatever the formula says to that
    f.alphas, f.possible = alphas, np.logical_not(loss > 0.5e30)
    loss = np.where(f.possible, loss, x.dtype.type(f.impossible))
    if f.reduce == "no":
        return loss
    return np.asarray(loss.sum(dtype=x.dtype) / n, x.dtype)


def ctc_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """The gradient of the scores."""
    x, t, *lengths = [source.data for source in f._sources]
    if not _suits(x, t, *lengths) or f.alphas.dtype != x.dtype:
        return NotImplemented
    (x, alphas), (t, length, count) = dense(x, f.alphas), _numbers(t, *lengths)
    (steps, n, classes), places = x.shape, alphas.shape[2]
    factor = np.where(f.possible, g / n if f.reduce == "mean" else g, 0).astype(x.dtype)
    tops, log_total = np.empty((2, steps, n), x.dtype)
    gx, rows = np.empty_like(x), x.reshape(-1, classes)
    given = rows, length, factor, tops.reshape(-1), log_total.reshape(-1), gx.reshape(rows.shape)
    parallel.divide(_shares, len(rows), -(-LEAST // classes), *given)
    known = x, t, length, count, tops, log_total, alphas, factor, gx, f.blank_symbol
    parallel.divide(_backward, n, -(-LEAST // (steps * places)), *known)
    return gx, None, None, None
