"""Conditional random fields over sequences (Lafferty, McCallum and Pereira 2001).

A labelling of a sequence has a score: the sum of the scores of its labels and of its transitions.
Sequences of different lengths are given by time, the longest first, so that batches shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core import Variable, as_variable
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, BackendArray
from plugins.functions.array.concat import Concat
from plugins.functions.array.expand_dims import ExpandDims
from plugins.functions.array.select_item import SelectItem
from plugins.functions.array.split_axis import split_axis
from plugins.functions.loss.reduction import check_reduce, reduced
from plugins.functions.math.extrema import Max
from plugins.functions.math.logsumexp import LogSumExp
from plugins.functions.math.segments import SegmentSum

Join = Callable[[Variable], Variable]


@checked
def crf1d(cost: Array, xs: Sequence[Array], ys: Sequence[Array], reduce: str = "mean") -> Variable:
    """Compute the negative log-likelihood of labels under a linear-chain conditional random field.

    -ln P(y | x) = ln Σ_{y'} exp(s(y')) - s(y) with the score s(y) = Σₜ xₜ[yₜ] + Σₜ cost[yₜ₋₁, yₜ],
    where y' runs over all labellings. `transpose_sequence` turns sequences into the form asked for.

    Args:
        cost: Scores of transitions, (labels, labels), from row to column; floating. -inf forbids.
        xs: By time, the scores of the labels: arrays (nₜ, labels) of the dtype of `cost`, where
            nₜ never grows.
        ys: By time, the labels: integers (nₜ,).
        reduce: 'mean' over the sequences, or 'no' for the loss of each.

    Returns:
        No axes, or (n₁,) with `reduce='no'`, and the dtype of `cost`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: There is no time step, or `reduce` is unknown.

    Source: Lafferty, McCallum and Pereira 2001, "Conditional random fields".

    >>> import core.functions as F, numpy as np
    >>> xs = [np.log(np.array([[1, 3]], "f")), np.zeros((1, 2), "f")]
    >>> loss = F.crf1d(np.zeros((2, 2), "f"), xs, [np.array([1]), np.array([0])])
    >>> F.exp(-loss)  # 3/4 of 1/2
    variable(0.375, dtype=float32)
    """
    check_reduce("crf1d", reduce)
    cost, xs = _checked("crf1d", cost, xs)
    labels = [as_variable(y) for y in ys]
    shapes = [x.shape[:1] for x in xs]
    _expect("crf1d", "shapes of ys", [y.shape for y in labels], shapes)
    total = _scan(cost, xs, lambda each: LogSumExp.call(each, 1))
    loss = LogSumExp.call(total, 1) - _score(cost, xs, labels)
    return reduced(loss, reduce)


def argmax_crf1d(cost: Array, xs: Sequence[Array]) -> tuple[Variable, list[BackendArray]]:
    """Find the labels that have the greatest score under a linear-chain conditional random field.

    Found by the algorithm of Viterbi. The derivatives of the score are those of a maximum.

    Args:
        cost: Scores of transitions, (labels, labels), from row to column; floating.
        xs: By time, the scores of the labels: arrays (nₜ, labels) of the dtype of `cost`, where
            nₜ never grows.

    Returns:
        The greatest scores, (n₁,), in the dtype of `cost`, and a list of arrays (nₜ,) of int32:
        by time, the labels that have them.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: There is no time step.

    Source: Forney 1973, "The Viterbi algorithm".

    >>> import core.functions as F, numpy as np
    >>> cost = np.array([[0, 0], [5, 0]], "f")
    >>> F.argmax_crf1d(cost, [np.zeros((1, 2), "f"), np.array([[1, 2]], "f")])
    (variable([6.], dtype=float32), [array([1], dtype=int32), array([0], dtype=int32)])
    """
    cost, xs = _checked("argmax_crf1d", cost, xs)
    xp, origins = cost.xp, []

    def greatest(each: Variable) -> Variable:
        origins.append(_argmax(xp, each))
        return Max.call(each, 1)

    best = _scan(cost, xs, greatest)
    return Max.call(best, 1), _traced_back(xp, _argmax(xp, best), xs, origins)


def _argmax(xp: Any, x: Variable) -> Any:
    return xp.astype(xp.argmax(x.array, axis=1), xp.int32)


def _scan(cost: Variable, xs: Sequence[Variable], join: Join) -> Variable:
    """For each sequence and last label, all labellings joined, (n₁, labels)."""
    alpha, ended = xs[0], []
    for x in xs[1:]:
        if x.shape[0] < alpha.shape[0]:
            alpha, rest = split_axis(alpha, [x.shape[0]], axis=0)
            ended.append(rest)
        alpha = join(ExpandDims.call(alpha, 2) + cost) + x
    return Concat.call(alpha, *ended[::-1], axis=0) if ended else alpha


def _score(cost: Variable, xs: Sequence[Variable], ys: Sequence[Variable]) -> Variable:
    """The score of each sequence's labels, (n₁,): the terms of all times at once."""
    xp, sizes = cost.xp, [x.shape[0] for x in xs]
    labels = xp.concat([y.array for y in ys], axis=0)
    # First, because it refuses what is not a label.
    terms = [SelectItem.call(Concat.call(*xs, axis=0), labels)]
    numbers = [xp.arange(n, device=labels.device) for n in sizes]
    if len(xs) > 1:
        left = [y.array[:n] for y, n in zip(ys, sizes[1:], strict=False)]
        terms.append(cost[xp.concat(left, axis=0), labels[sizes[0] :]])
        numbers += numbers[1:]
    return SegmentSum.call(Concat.call(*terms, axis=0), xp.concat(numbers, axis=0), count=sizes[0])


def _traced_back(xp: Any, last: Any, xs: Sequence[Variable], origins: Sequence[Any]) -> list[Any]:
    """The labels by time, from each sequence's last one, and where each label came from."""
    labels = last[: xs[-1].shape[0]]
    found = [labels]
    for x, origin in zip(xs[-2::-1], origins[::-1], strict=True):
        labels = xp.take_along_axis(origin, labels[:, None], axis=1)[:, 0]
        labels = xp.concat([labels, last[labels.shape[0] : x.shape[0]]], axis=0)
        found.append(labels)
    return found[::-1]


def _checked(name: str, cost: Any, xs: Any) -> tuple[Variable, list[Variable]]:
    cost, xs = as_variable(cost), [as_variable(x) for x in xs]
    if not xs:
        raise ValueError(f"{name}: expected at least one time step in xs, got none")
    _expect(name, "cost.ndim == 2", cost.ndim, 2)
    _expect(name, "ndim of each of xs", [x.ndim for x in xs], [2] * len(xs))
    labels = cost.shape[0]
    _expect(
        name,
        "labels of cost and of each of xs",
        [*cost.shape, *[x.shape[1] for x in xs]],
        [labels] * (len(xs) + 2),
    )
    sizes = [x.shape[0] for x in xs]
    _expect(name, "batches of xs that do not grow", sizes, sorted(sizes, reverse=True))
    return cost, xs


def _expect(name: str, what: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        raise InvalidType(what, f"{actual} != {expected}", operation=name)
