"""A conditional random field over sequences, with the scores of its transitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors import InvalidType
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array, BackendArray


class CRF1d(Link):
    r"""A linear-chain conditional random field: the loss of labels, and the best labels.

    .. math:: -\ln P(y | x), \quad P(y | x) \propto
        \exp\left(\textstyle\sum_t x_t[y_t] + \sum_t \mathrm{cost}[y_{t-1}, y_t]\right)

    Args:
        n_label: How many labels there are.
        initial_cost: Initializer of the cost, a number or an array; 0 by default.

    Shapes: xs, by time, arrays (n_t, n_label), floating, where n_t never grows; ys, by time,
    integers (n_t,); cost (n_label, n_label). Gives no axes, or (n_1,) with `reduce='no'`.

    Source: Lafferty, McCallum and Pereira 2001, "Conditional random fields".

    >>> import core.functions as F, core.links as L, numpy as np
    >>> field = L.CRF1d(2)
    >>> xs = [np.log(np.array([[1, 3]], "f")), np.zeros((1, 2), "f")]
    >>> F.exp(-field(xs, [np.array([1]), np.array([0])]))  # 3/4 of 1/2
    variable(0.375, dtype=float32)
    >>> [labels.tolist() for labels in field.argmax(xs)[1]]
    [[1], [0]]
    """

    @checked
    def __init__(self, n_label: int, initial_cost: InitializerSpec = None) -> None:
        super().__init__()
        with self.init_scope():
            self.cost = Parameter(as_initializer(initial_cost, 0), (n_label, n_label))

    def forward(
        self,
        xs: Sequence[Array],
        ys: Sequence[Array],
        reduce: str = "mean",
        transpose: bool = False,
    ) -> Variable:
        """Compute the loss of labels `ys` for scores `xs`, both by time; 'mean', or 'no' for each.

        With `transpose` they are given by sequence, (length, n_label) and (length,), in any order.
        """
        if not transpose:
            return F.crf1d(self.cost, xs, ys, reduce)
        if len(xs) != len(ys):
            raise InvalidType("len(xs) == len(ys)", f"{len(xs)} != {len(ys)}", operation="CRF1d")
        order = _longest_first(xs)
        loss = F.crf1d(self.cost, _by_time(xs, order), _by_time(ys, order), reduce)
        return loss if reduce == "mean" else loss[_inverse(order)]

    def argmax(
        self, xs: Sequence[Array], transpose: bool = False
    ) -> tuple[Variable, list[BackendArray]]:
        """Return the greatest scores (n_1,), and the labels that have them, by time.

        With `transpose` scores are given, and labels returned, by sequence.
        """
        if not transpose:
            return F.argmax_crf1d(self.cost, xs)
        order = _longest_first(xs)
        scores, labels = F.argmax_crf1d(self.cost, _by_time(xs, order))
        found = F.transpose_sequence(labels)
        inverse = _inverse(order)
        return scores[inverse], [found[i].array for i in inverse]


def _longest_first(sequences: Any) -> list[int]:
    return sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def _by_time(sequences: Any, order: list[int]) -> Any:
    return F.transpose_sequence([sequences[i] for i in order])
