"""The loss of sequences whose labels are not aligned with their steps (Graves et al. 2006).

A label sequence is laid out as a path: blanks between the labels and around them. At each step an
alignment stays where it is on the path, goes on by one, or skips a blank between two different
labels. All sums of probabilities are over logarithms; `NOTHING` stands for that of 0, finite, so
that no infinity is ever subtracted from another.

Those of a step are taken less their greatest: they stay as exact as they are for short sequences,
where the logarithm of a long one's probability has no digits left for the differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from core import (
    Domain,
    FunctionNode,
    Variable,
    as_variable,
    choice,
    integers,
    is_debug,
    real,
)
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import AnyArray, Array
from plugins.functions.array.cast import cast
from plugins.functions.array.stack import Stack
from plugins.functions.composed import Composed
from plugins.functions.labels import refuse_outside
from plugins.functions.loss.reduction import check_reduce
from plugins.functions.namespace.selection import AddAlongAxis, TakeAlongAxis

NAME = "connectionist_temporal_classification"
NOTHING = -1e30
IMPOSSIBLE = 1e10


class _Path(NamedTuple):
    """Where alignments may go: symbols (n, s) with s = 2 m + 1, and masks.

    `skips` (n, s): may be reached from two places before; `inside` (n, s): belongs to the path;
    `ends` (n, s): an alignment may end there; `running` (steps, n, 1): the input is not over yet.
    """

    symbols: Any
    skips: Any
    inside: Any
    ends: Any
    running: Any


def _path(xp: Any, steps: int, blank: int, t: Any, input_length: Any, label_length: Any) -> _Path:
    n, m = t.shape
    blanks = xp.full((n, m + 1), blank, dtype=t.dtype, device=t.device)
    pairs = xp.stack([blanks[:, :m], t], axis=2)
    symbols = xp.concat([xp.reshape(pairs, (n, 2 * m)), blanks[:, m:]], axis=1)
    place = xp.arange(2 * m + 1, device=t.device)
    size = xp.expand_dims(2 * xp.astype(label_length, place.dtype), axis=1)
    before = xp.concat([symbols[:, :2], symbols[:, :-2]], axis=1)[:, : 2 * m + 1]
    inside = place <= size
    symbols = xp.where(inside, symbols, blank)  # whatever the labels are padded with
    ends = xp.logical_or(place == size, place == size - 1)
    step = xp.reshape(xp.arange(steps, device=t.device), (steps, 1, 1))
    length = xp.reshape(xp.astype(input_length, step.dtype), (1, n, 1))
    return _Path(symbols, symbols != before, inside, ends, step < length)


def _log_sum(xp: Any, a: Any, b: Any, c: Any) -> Any:
    top = xp.maximum(a, xp.maximum(b, c))
    return top + xp.log(xp.exp(a - top) + xp.exp(b - top) + xp.exp(c - top))


def _nowhere(xp: Any, like: Any) -> Any:
    return xp.full((like.shape[0], 2), NOTHING, dtype=like.dtype, device=like.device)


class ConnectionistTemporalClassification(Composed):
    """The loss for given settings; see `connectionist_temporal_classification`.

    It is applied to the lengths of inputs and labels, the labels, and the inputs by time.
    """

    def __init__(self, blank_symbol: int, reduce: str = "mean") -> None:
        self.blank_symbol = blank_symbol
        self.reduce = reduce

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The loss."""
        input_length, label_length, t, *x = inputs
        settings = (self.blank_symbol, input_length, label_length, self.reduce)
        return (connectionist_temporal_classification(x, t, *settings),)


class CTC(FunctionNode):
    """-log of the sum, over all alignments, of the products of their symbols' softmax.

    The derivative is the softmax less the posterior probability of each symbol at each step.
    """

    label = "ConnectionistTemporalClassification"
    blank_symbol: int
    reduce: str = "mean"
    impossible: float = IMPOSSIBLE

    saved = ("alphas", "possible")
    wide = True
    domain = Domain(
        "(s,n,v),(n,m),(n),(n)->(...b)",
        x=real(-3, 3),
        t=integers(1, "v"),
        input_length=integers(0, "s"),
        label_length=integers(0, "m"),
        settings={
            "blank_symbol": choice(0),
            "reduce": choice("mean", "no"),
            "impossible": choice(100.0),
        },
        dims={"s": (2, 5), "v": (2, 3), "m": (1, 3)},
    )

    def prepare(self) -> None:
        check_reduce("connectionist_temporal_classification", self.reduce)

    def compute(self, xp, x, t, input_length, label_length):
        self.check_values(xp, x, t, input_length, label_length)
        path = self._path(xp, x, t, input_length, label_length)
        self.alphas, lost = self._alphas(xp, x, path)
        loss = -lost - self._log_of_all(xp, xp.where(path.ends, self.alphas[-1, ...], NOTHING))
        self.possible = xp.logical_not(loss > -0.5 * NOTHING)
        loss = xp.where(self.possible, loss, self.impossible)
        if self.reduce == "no":
            return loss
        return xp.sum(loss, dtype=x.dtype) / max(loss.shape[0], 1)

    def check_values(
        self, xp: Any, x: AnyArray, t: AnyArray, input_length: AnyArray, label_length: AnyArray
    ) -> None:
        """Refuse lengths of more than there is, and labels that count and are no symbols."""
        given = (
            ("input_length", input_length, x.shape[0]),
            ("label_length", label_length, t.shape[1]),
        )
        for name, lengths, limit in given:
            cure = f"No more than {limit} are there."
            refuse_outside(NAME, self.backend, name, lengths, limit + 1, cure)
        labels = xp.where(_counted(xp, t, label_length), t, xp.zeros_like(t))
        refuse_outside(NAME, self.backend, "t", labels, x.shape[2], "Labels are symbols of x.")

    def _path(
        self, xp: Any, x: AnyArray, t: AnyArray, input_length: AnyArray, label_length: AnyArray
    ) -> AnyArray:
        return _path(xp, x.shape[0], self.blank_symbol, t, input_length, label_length)

    def _log_softmax(self, xp: Any, x: AnyArray) -> AnyArray:
        x = x - xp.max(x, axis=2, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), axis=2, keepdims=True))

    def _emitted(self, xp: Any, logs: AnyArray, path: AnyArray) -> AnyArray:
        """The logarithm of the probability of each place of the path at each step."""
        symbols = xp.broadcast_to(path.symbols, (logs.shape[0], *path.symbols.shape))
        emitted = xp.maximum(TakeAlongAxis(2).evaluate(logs, symbols), NOTHING)
        return xp.where(path.inside, emitted, NOTHING)

    def _alphas(self, xp: Any, x: AnyArray, path: AnyArray) -> tuple[AnyArray, AnyArray]:
        """For each step and place, all alignments that are there after that step.

        Less the greatest of the step; and the sum of these, for each sequence.
        """
        emitted = self._emitted(xp, self._log_softmax(xp, x), path)
        size = path.symbols.shape[1]
        nowhere = _nowhere(xp, emitted[0, ...])
        alpha = xp.zeros_like(emitted[0, ...])
        alpha = xp.where(xp.arange(size, device=x.device) == 0, alpha, NOTHING)
        alphas, tops = [], []
        for i in range(x.shape[0]):
            before = xp.concat([nowhere, alpha], axis=1)
            skipped = xp.where(path.skips, before[:, :size], NOTHING)
            come = _log_sum(xp, alpha, before[:, 1 : size + 1], skipped)
            alpha = xp.where(path.running[i, ...], come + emitted[i, ...], alpha)
            top = xp.max(alpha, axis=1, keepdims=True)
            alpha = alpha - top
            alphas.append(alpha)
            tops.append(top)
        return xp.stack(alphas, axis=0), xp.sum(xp.concat(tops, axis=1), axis=1)

    def _betas(self, xp: Any, emitted: AnyArray, path: AnyArray) -> AnyArray:
        """For each step and place, all ways to complete an alignment that is there after it.

        Less the greatest of the step.
        """
        size = path.symbols.shape[1]
        nowhere = _nowhere(xp, emitted[0, ...])
        beta = xp.where(path.ends, xp.zeros_like(emitted[0, ...]), NOTHING)
        betas = [beta]
        for i in range(emitted.shape[0] - 1, 0, -1):
            gone = beta + emitted[i, ...]
            skipped = xp.where(path.skips, gone, NOTHING)
            after = xp.concat([gone, nowhere], axis=1)[:, 1 : size + 1]
            skipped = xp.concat([skipped, nowhere], axis=1)[:, 2:]
            beta = xp.where(path.running[i, ...], _log_sum(xp, gone, after, skipped), beta)
            beta = beta - xp.max(beta, axis=1, keepdims=True)
            betas.append(beta)
        return xp.stack(betas[::-1], axis=0)

    def _log_of_all(self, xp: Any, logs: AnyArray) -> AnyArray:
        """The logarithm of the sum of what is along the last axis."""
        top = xp.max(logs, axis=-1, keepdims=True)
        return (top + xp.log(xp.sum(xp.exp(logs - top), axis=-1, keepdims=True)))[..., 0]

    def gradient_x(self, xp, g, x, t, input_length, label_length, alphas, possible):
        path = self._path(xp, x, t, input_length, label_length)
        logs = self._log_softmax(xp, x)
        there = alphas + self._betas(xp, self._emitted(xp, logs, path), path)
        there = xp.exp(there - xp.max(there, axis=2, keepdims=True))
        there = there / xp.sum(there, axis=2, keepdims=True)
        symbols = xp.broadcast_to(path.symbols, alphas.shape)
        posterior = AddAlongAxis(2, x.shape).evaluate(there, symbols)
        if self.reduce == "mean":
            g = g / max(x.shape[1], 1)
        g = xp.expand_dims(xp.where(possible, g, 0.0), axis=1)
        return xp.where(path.running, g * (xp.exp(logs) - posterior), 0.0)

    def recompute_alphas(
        self, xp: Any, x: AnyArray, t: AnyArray, input_length: AnyArray, label_length: AnyArray
    ) -> AnyArray:
        return self._alphas(xp, x, self._path(xp, x, t, input_length, label_length))[0]


@checked
def connectionist_temporal_classification(
    x: Array | Sequence[Array],
    t: Array,
    blank_symbol: int,
    input_length: Array | None = None,
    label_length: Array | None = None,
    reduce: str = "mean",
) -> Variable:
    """Compute the CTC loss: -ln P(labels | scores), over all alignments of labels and steps.

    An alignment names a symbol at each step; merging what repeats and removing blanks gives the
    labels. Its probability is the product of the softmax of its symbols. Everything is summed in
    logarithms. Labels that fit no alignment, because the input is too short, cost 1e10 (1e4 in
    float16) and give no gradient.

    Args:
        x: Scores before softmax: a list of (n, symbols) for each step, or an array
            (steps, n, symbols); floating.
        t: Labels, (n, m), integers other than `blank_symbol`.
        blank_symbol: The number of the blank, in [0, symbols).
        input_length: Steps that count of each sequence, (n,), integers; all by default.
        label_length: Labels that count of each sequence, (n,), integers; all by default.
        reduce: 'mean', or 'no' for the loss of each sequence.

    Returns:
        No axes, or (n,) with `reduce='no'`, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A label that counts, or a length, is out of range; where devices run ahead,
            under `core.config.debug`.
        ValueError: There is no step, or no such symbol as the blank; or `reduce` is unknown. Under
            `core.config.debug`: a label that counts is the blank.

    Source: Graves, Fernández, Gomez and Schmidhuber 2006, "Connectionist temporal classification",
    equations 5 to 16.

    >>> import core.functions as F, numpy as np
    >>> x, t = np.zeros((2, 1, 2), "f"), np.array([[1]])
    >>> loss = F.connectionist_temporal_classification(x, t, blank_symbol=0)
    >>> F.exp(-loss)  # of four alignments all but two blanks
    variable(0.75, dtype=float32)
    """
    x = _stacked(x)
    if not 0 <= blank_symbol < x.shape[2]:
        raise ValueError(
            f"{NAME}: expected a blank_symbol in [0, {x.shape[2]}), got {blank_symbol}"
        )
    t = as_variable(t)
    if t.ndim != 2:
        raise _refused("t.ndim == 2", f"{t.ndim} != 2")
    lengths = [
        _all(t, count) if given is None else as_variable(given).array
        for given, count in ((input_length, x.shape[0]), (label_length, t.shape[1]))
    ]
    for what, length in zip(("input_length", "label_length"), lengths, strict=True):
        if length.shape != t.shape[:1]:
            raise _refused(f"{what}.shape == t.shape[:1]", f"{length.shape} != {t.shape[:1]}")
    if is_debug():
        with x.backend.beside(x.array):
            _refuse_blanks(x, t, lengths[1], blank_symbol)
    if x.backend.dtype_name(x.dtype) != "float16":
        return CTC.call(x, t, *lengths, blank_symbol, reduce)
    # The rules for second derivatives run on what comes in, and float16 does not hold NOTHING.
    wide = cast(x, x.backend.dtype("float32"))
    loss = CTC.call(wide, t, *lengths, blank_symbol, reduce, 1e4)
    return cast(loss, x.dtype)


def _counted(xp: Any, t: AnyArray, label_length: AnyArray) -> AnyArray:
    """Which labels count."""
    return xp.arange(t.shape[1], device=t.device) < xp.expand_dims(label_length, axis=1)


def _refuse_blanks(x: Variable, t: Variable, label_length: Any, blank: int) -> None:
    counted = _counted(x.xp, t.array, label_length)
    if x.xp.any(counted & (t.array == blank)):
        raise ValueError(f"{NAME}: expected labels other than the blank {blank}")


def _stacked(x: Any) -> Variable:
    if not isinstance(x, (list, tuple)):
        x = as_variable(x)
    if len(x) == 0:
        raise ValueError(f"{NAME}: expected at least one step in x, got none")
    x = Stack.call(*x, axis=0) if isinstance(x, (list, tuple)) else x
    if x.ndim != 3:
        raise _refused("x.ndim == 3 (steps, n, symbols)", f"{x.ndim} != 3")
    return x


def _all(t: Variable, count: int) -> Any:
    array = t.array
    return t.xp.full((array.shape[0],), count, dtype=array.dtype, device=array.device)


def _refused(expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation=NAME)
