"""A conditional random field over sequences, with the scores of its transitions."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.initializer import as_initializer


class CRF1d(Link):
    r"""A linear-chain conditional random field: the loss of labels of sequences, and the best ones.

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
    >>> field.argmax(xs)[1]
    [array([1]), array([0])]
    """

    def __init__(self, n_label: int, initial_cost: Any = None) -> None:
        super().__init__()
        with self.init_scope():
            self.cost = Parameter(as_initializer(initial_cost, 0), (n_label, n_label))

    def forward(self, xs: Any, ys: Any, reduce: str = "mean") -> Variable:
        """The loss of labels `ys` for scores `xs`, both by time; 'mean', or 'no' for that of each.

        `transpose_sequence` turns sequences into this form.
        """
        return F.crf1d(self.cost, xs, ys, reduce)

    def argmax(self, xs: Any) -> tuple[Variable, list[Any]]:
        """The greatest scores (n_1,), and the labels that have them, by time."""
        return F.argmax_crf1d(self.cost, xs)
