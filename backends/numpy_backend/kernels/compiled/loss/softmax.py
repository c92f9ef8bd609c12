"""Softmax along an axis, and the cross entropy of classes: each row of the last axis in one go.

Exponentials are this package's own, and sums are taken in the order of the machine's vectors.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import FLOAT, INTEGER, ONE, ZERO, exp
from backends.numpy_backend.kernels.compiled.loss import softmax_across, softmax_of_maps
from backends.numpy_backend.kernels.compiler import (
    SMALL,
    SUMS,
    Array,
    ByType,
    Indices,
    Read1,
    Read2,
    Real,
    Write1,
    Write2,
    WriteInts,
    compiled,
    empty,
    inlined,
    inlined_exactly,
    ready_for_few,
    suits,
)
from core.typing import Shape

LEAST = 65536  # elements of a part
CALLS = SMALL  # a loop of one element is faster than the formulas, of five to sixteen calls

PLACES = 8  # behind an axis, of fewer of which NumPy is as fast

_LOWEST: Any = ByType(np.int32(-(2**31)), np.int64(-(2**63)))
_SIGN: Any = ByType(np.int32(31), np.int64(63))
_BUT_SIGN: Any = ByType(np.int32(2**31 - 1), np.int64(2**63 - 1))


@inlined
def _turned(bits: Any) -> Any:
    """Bits of a float as an integer of the same order; that integer as the bits.

    The maximum of integers vectorises, that of floats does not, for the sake of NaN. Here one
    counts as the greatest or the least; it will be found in the sum.
    """
    return INTEGER(bits ^ (INTEGER(bits >> _SIGN) & _BUT_SIGN))


@inlined
def greatest(row: Any) -> Any:
    """The maximum of a row."""
    top = INTEGER(_LOWEST)
    for i in range(row.size):
        key = _turned(FLOAT(row[i]).view(INTEGER))
        top = key if key > top else top
    return INTEGER(_turned(top)).view(FLOAT)


@compiled(fastmath=SUMS)
def _softmax(x: Read2, y: Write2, start: int, stop: int) -> None:
    for r in range(start, stop):
        row, out = x[r], y[r]
        top, total = greatest(row), ZERO
        for i in range(row.size):
            e = exp(row[i] - top)
            out[i] = e
            total += e
        share = ONE / total
        for i in range(row.size):
            out[i] *= share


@compiled(fastmath=SUMS)
def _softmax_gradient(y: Read2, g: Read2, gx: Write2, start: int, stop: int) -> None:
    """Y (g - sum g y)."""
    for r in range(start, stop):
        row, given, out = y[r], g[r], gx[r]
        total = ZERO
        for i in range(row.size):
            total += given[i] * row[i]
        for i in range(row.size):
            out[i] = row[i] * (given[i] - total)


@compiled(fastmath=SUMS)
def _log_softmax(x: Read2, y: Write2, start: int, stop: int) -> None:
    for r in range(start, stop):
        row, out = x[r], y[r]
        top, total = greatest(row), ZERO
        for i in range(row.size):
            total += exp(row[i] - top)
        total = np.log(total)
        for i in range(row.size):
            out[i] = _less(row[i], top, total)


@compiled(fastmath=SUMS)
def _log_softmax_gradient(y: Read2, g: Read2, gx: Write2, start: int, stop: int) -> None:
    """G - exp(y) sum g."""
    for r in range(start, stop):
        row, given, out = y[r], g[r], gx[r]
        total = ZERO
        for i in range(row.size):
            total += given[i]
        for i in range(row.size):
            out[i] = given[i] - exp(row[i]) * total


@inlined_exactly
def _less(score: Any, top: Any, log_total: Any) -> Any:
    """Scores are compared first, as in `_loss`."""
    return score - top - log_total


@inlined_exactly
def _loss(log_total: Any, score: Any, top: Any) -> Any:
    """Scores are compared first: they are of one size, so that nothing is lost for huge ones."""
    return log_total - (score - top)


@compiled(fastmath=SUMS)
def _losses(
    x: Read2,
    labels: Indices,
    ignored: int,
    tops: Write1,
    log_total: Write1,
    loss: Write1,
    weight: Write1,
    outside: WriteInts,
    start: int,
    stop: int,
) -> None:
    """Maxima, logarithms of sums of exp(x - maximum), losses, and 1 for labels that count."""
    for r in range(start, stop):
        row, label = x[r], labels[r]
        top, total = greatest(row), ZERO
        for i in range(row.size):
            total += exp(row[i] - top)
        total = np.log(total)
        tops[r], log_total[r], loss[r], weight[r] = top, total, ZERO, ZERO
        if label != ignored:
            if 0 <= label < row.size:
                loss[r], weight[r] = _loss(total, row[label], top), ONE
            else:
                outside[0] = 1


@compiled
def _mean(loss: Read1, weight: Write1, count: Real, mean: Write1) -> None:
    """The sum of losses times weights that are divided by the count, in float64."""
    total = np.float64(0.0)
    for r in range(loss.size):
        weight[r] /= count
        total += np.float64(loss[r]) * weight[r]
    mean[0] = total


@compiled
def _shares(
    x: Read2,
    labels: Indices,
    ignored: int,
    tops: Read1,
    log_total: Read1,
    factor: Read1,
    gx: Write2,
    start: int,
    stop: int,
) -> None:
    """(exp(x - maximum - log_total) - onehot(label)) factor; 0 for an ignored label."""
    for r in range(start, stop):
        row, out, top, total = x[r], gx[r], tops[r], log_total[r]
        k, label = factor[r], labels[r]
        if label == ignored:
            for i in range(row.size):
                out[i] = ZERO
            continue
        for i in range(row.size):
            out[i] = exp(row[i] - top - total) * k
        if 0 <= label < row.size:
            out[label] = (exp(row[label] - top - total) - ONE) * k


def _divide(loop: Any, rows: Array, *others: Any) -> None:
    parallel.divide(loop, len(rows), -(-LEAST // rows.shape[1]), rows, *others)


def _rows(f: Any, *arrays: Array) -> list[Array] | None:
    """Arrays as rows along the axis of a softmax, if that is the last of more than one element."""
    if not suits(*arrays, calls=CALLS):
        return None
    columns = _columns(f.axis, arrays[0].shape)
    if not columns:
        return None
    return [np.ascontiguousarray(a).reshape(-1, columns) for a in arrays]


def _columns(axis: int, shape: Shape) -> int:
    """How many elements lie along an axis, behind which there is no other of several; else 0."""
    after = shape[axis:][1:] if -len(shape) <= axis < len(shape) else (0,)
    return shape[axis] if prod(after) == 1 else 0


def softmax(f: Any, xp: Any, x: Any) -> Any:
    """`exp(x) / sum(exp(x))`."""
    return _along(f, x, _softmax, softmax_across.softmax)


def _along(f: Any, x: Any, loop: Any, across: Any) -> Any:
    rows = _rows(f, x)
    if rows is None:
        return _across(f.axis, across, 2, x)
    y = np.empty_like(rows[0])
    _divide(loop, *rows, y)
    return y.reshape(x.shape)


def _across(axis: int, loop: Any, sums: int, *arrays: Array) -> Any:
    """The same along an axis behind which lie some others, with so many sums of a place."""
    shape = arrays[0].shape
    before, after = shape[:axis], shape[axis:][1:]
    axes = range(-len(shape), len(shape))
    if not suits(*arrays, calls=CALLS) or axis not in axes or prod(after) < PLACES:
        return NotImplemented
    maps = prod(before), shape[axis], prod(after)
    given = [np.ascontiguousarray(a).reshape(maps) for a in arrays]
    return softmax_across.computed(loop, sums, *given).reshape(shape)


def _ready_along(kernel: Any, loop: Any, across: Any) -> None:
    """Let the kernel have a form for few elements, which is `_along` of a known shape."""

    def run_for(shape: Shape, dtype: Any) -> Any:
        size, axes = prod(shape), range(-len(shape), len(shape))
        along = {axis: _columns(axis, shape) for axis in axes}

        def run(f: Any, x: Any) -> Any:
            columns = along.get(f.axis)
            if not columns:
                return _across(f.axis, across, 2, x)
            rows = size // columns
            y = np.empty((rows, columns), dtype)
            loop(x.reshape(rows, columns), y, 0, rows)
            return y.reshape(shape)

        return run

    ready_for_few(kernel, lambda: 2 * LEAST, run_for)


def softmax_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`y * (g - sum(g * y))`."""
    return _gradient(f, g, _softmax_gradient, softmax_across.softmax_gradient)


def log_softmax(f: Any, xp: Any, x: Any) -> Any:
    """`x - log(sum(exp(x)))`."""
    return _along(f, x, _log_softmax, softmax_across.log_softmax)


_ready_along(softmax, _softmax, softmax_across.softmax)
_ready_along(log_softmax, _log_softmax, softmax_across.log_softmax)


def log_softmax_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g - exp(y) * sum(g)`."""
    return _gradient(f, g, _log_softmax_gradient, softmax_across.log_softmax_gradient)


def _gradient(f: Any, g: Any, loop: Any, across: Any) -> Any:
    rows = _rows(f, f.data, g)
    if rows is None:
        gx = _across(f.axis, across, 1, f.data, g)
        return gx if gx is NotImplemented else (gx,)
    gx = np.empty_like(rows[1])
    _divide(loop, *rows, gx)
    return (gx.reshape(g.shape),)


def softmax_cross_entropy(f: Any, xp: Any, x: Any, t: Any) -> Any:
    """The loss of scores (n, classes, ...)."""
    if not suits(x, calls=CALLS) or t.shape != x.shape[:1] + x.shape[2:] or _is_beyond(f, t):
        return NotImplemented
    labels = np.ascontiguousarray(t, np.intp).reshape(-1)
    found = _losses_of(np.ascontiguousarray(x), labels, f.ignore_label)
    if found is None:
        return NotImplemented  # the formula says which
    top, log_total, loss, w = found
    kept = len(x), 1, *x.shape[2:]
    f.top, f.log_total = top.reshape(kept), log_total.reshape(kept)
    if f.label_smoothing:
        of_all = (log_total.reshape(t.shape) - np.mean(x - f.top, axis=1)).reshape(-1)
        loss *= x.dtype.type(1 - f.label_smoothing)
        loss += np.where(w == 0, 0, of_all) * x.dtype.type(f.label_smoothing)
    count = max(np.count_nonzero(w), 1) if f.normalize else len(x)
    if f.class_weight is not None:
        if f.class_weight.shape[0] != x.shape[1]:
            return NotImplemented  # the formula says what fits
        w *= f.class_weight.astype(w.dtype)[np.where(w == 0, 0, labels)]
    if f.reduce == "no":
        y = (loss if f.class_weight is None else loss * w).reshape(t.shape)
    else:
        y = np.empty((), x.dtype)
        _mean(loss, w, w.dtype.type(count), y.reshape(1))
    f.w = w.reshape(t.shape)
    if f.label_smoothing:
        f.spread = f.w * x.dtype.type(f.label_smoothing / x.shape[1])
    return y


def _is_beyond(f: Any, t: Array) -> bool:
    """Whether there is what the loops do not know: numbers beyond int64, and weights of their own
    of the losses of all classes.
    """
    if f.label_smoothing and f.class_weight is not None:
        return True
    return t.dtype.char in "LQ" or not -(1 << 63) <= f.ignore_label < 1 << 63


def _losses_of(x: Array, labels: Array, ignored: int) -> tuple[Array, ...] | None:
    """Maxima, logarithms of sums, losses and weights 0 or 1 of labels; None for a wrong one."""
    if x.ndim > 2:
        return softmax_of_maps.losses(x.reshape(*x.shape[:2], -1), labels, ignored)
    found = empty(4, len(x), x.dtype)
    outside = np.zeros(1, np.int32)
    _divide(_losses, x, labels, ignored, *found, outside)
    return None if outside[0] else tuple(found)


def softmax_cross_entropy_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g * w * (softmax(x) - onehot(t))`."""
    x = f._sources[0].data
    if not suits(x, calls=CALLS) or _is_beyond(f, f._sources[1].data):
        return NotImplemented
    scores = np.ascontiguousarray(x)
    labels = np.ascontiguousarray(f._sources[1].data, np.intp).reshape(-1)
    kept = f.top.reshape(-1), f.log_total.reshape(-1), np.ascontiguousarray(g * f.w).reshape(-1)
    if x.ndim > 2:
        maps = scores.reshape(*x.shape[:2], -1)
        gx = softmax_of_maps.shares(maps, labels, f.ignore_label, *kept)
    else:
        gx = np.empty_like(scores)
        _divide(_shares, scores, labels, f.ignore_label, *kept, gx)
    gx = gx.reshape(x.shape)
    if f.label_smoothing:
        ignored = f.w == 0
        g = np.where(ignored, g.dtype.type(0), g)  # which may be NaN there, as in `_shares`
        gx -= np.expand_dims(g * f.spread, 1)
        places = np.expand_dims(np.where(ignored, 0, labels.reshape(f.w.shape)), 1)
        kept_back = np.expand_dims(g * f.w, 1) * x.dtype.type(f.label_smoothing)
        np.put_along_axis(gx, places, np.take_along_axis(gx, places, 1) + kept_back, 1)
    return (gx, None)
