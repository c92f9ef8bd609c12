"""Precision, recall and F scores of each class."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, choice, integers, number, real
from core.errors.removed import removed
from core.typing import AnyArray, Array, Number
from plugins.functions.evaluation.accuracy import with_axes_of_labels
from plugins.functions.labels import widened


class ClassificationSummary(FunctionNode):
    """Quotients of counts of each class: what is right, what is predicted, what is there."""

    label_num: Number | None = None
    beta: float = 1.0
    ignore_label: int = -1

    output_names = ("precision", "recall", "fbeta", "support")
    wide = True
    domain = Domain(
        "(n,c,...),(n,...)->(l),(l),(l),(l)",
        y=real(-3, 3),
        t=integers(0, "c"),
        settings={
            "label_num": choice(None, 2, 5),
            "beta": number(0.5, 2.0),
            "ignore_label": choice(-1, 0),
        },
        dims={"c": (1, 4), "...": (0, 2)},
        valid="c > 0",
        leave_out={"gradient": "not differentiable", "traced": "depends on values"},
    )

    def compute(self, xp, y, t):
        t, labels = widened(xp, t), self.label_num
        if labels is None:
            labels = int(xp.max(t)) + 1 if prod(t.shape) else 0
        guess = xp.astype(xp.argmax(y, axis=1), t.dtype)
        counted = t != self.ignore_label
        support = self._count(xp, t, counted, labels)
        found = self._count(xp, guess, counted, labels)
        right = self._count(xp, t, counted & (guess == t), labels)
        precision, recall = self._share(xp, right, found, y), self._share(xp, right, support, y)
        return precision, recall, self._fbeta(xp, precision, recall), support

    def _count(self, xp: Any, values: AnyArray, counted: AnyArray, labels: int) -> AnyArray:
        """How often each class stands among the values that count."""
        place = xp.where(counted & (values >= 0) & (values < labels), values, labels)
        place = xp.reshape(xp.astype(place, xp.int64), (-1,))
        counts = xp.zeros((labels + 1,), dtype=xp.int64, device=values.device)
        counts = self.backend.scatter_add(counts, place, xp.ones_like(place))
        return counts[:labels]

    def _share(self, xp: Any, part: AnyArray, whole: AnyArray, like: AnyArray) -> AnyArray:
        share = xp.astype(part, like.dtype) / xp.astype(xp.where(whole == 0, 1, whole), like.dtype)
        return xp.where(whole == 0, float("nan"), share)

    def _fbeta(self, xp: Any, precision: AnyArray, recall: AnyArray) -> AnyArray:
        square = self.beta * self.beta
        weighted = square * precision + recall
        mean = (1 + square) * precision * recall / xp.where(weighted == 0, 1.0, weighted)
        return xp.where(weighted == 0, float("nan"), mean)


@removed()
def classification_summary(
    y: Array, t: Array, label_num: int | None = None, beta: float = 1.0, ignore_label: int = -1
) -> tuple[Variable, Variable, Variable, Variable]:
    """Compute precision, recall, F score and support of each class; without gradient.

    Of a class, precision is the share of the examples found that are right, recall the share of the
    right ones that are found, and F_β = (1 + β²) p r / (β² p + r). A share of nothing is NaN, and
    so is the F score where p and r are 0. The support is how many examples are of the class.

    Args:
        y: Scores, (n, classes, ...), floating; or (n, classes, 1, ...) for `t` of fewer axes.
        t: Right classes, (n, ...), integers.
        label_num: How many classes to tell of; by default up to the greatest in `t`.
        beta: How many times more recall counts than precision in the F score.
        ignore_label: A class whose examples do not count.

    Returns:
        Four of (label_num,): three of the dtype of `y`, and integers.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> y = np.array([[2, 1], [2, 1], [1, 2], [1, 2]], "f")
    >>> p, r, f, support = F.classification_summary(y, np.array([0, 0, 0, 1]))
    >>> p, support
    (variable([1. , 0.5], dtype=float32), variable([3, 1]))
    """
    settings = {"label_num": label_num, "beta": beta, "ignore_label": ignore_label}
    return ClassificationSummary.call(with_axes_of_labels(y, t), t, **settings)


@removed()
def precision(
    y: Array, t: Array, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """Compute the share of right predictions among all predictions of each class, and the support.

    Without gradient.

    Args:
        y: Scores, (n, classes, ...), floating; or (n, classes, 1, ...) for `t` of fewer axes.
        t: Right classes, (n, ...), integers.
        label_num: How many classes to tell of; by default up to the greatest in `t`.
        ignore_label: A class whose examples do not count.

    Returns:
        Two of (label_num,): of the dtype of `y`, and the number of examples of each class.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.precision(np.array([[2, 1], [2, 1], [1, 2]], "f"), np.array([0, 1, 1]))
    (variable([0.5, 1. ], dtype=float32), variable([1, 2]))
    """
    found, _, _, support = classification_summary(y, t, label_num, 1.0, ignore_label)
    return found, support


@removed()
def recall(
    y: Array, t: Array, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """Compute the share of the examples of each class that are found, and the support.

    Without gradient.

    Args:
        y: Scores, (n, classes, ...), floating; or (n, classes, 1, ...) for `t` of fewer axes.
        t: Right classes, (n, ...), integers.
        label_num: How many classes to tell of; by default up to the greatest in `t`.
        ignore_label: A class whose examples do not count.

    Returns:
        Two of (label_num,): of the dtype of `y`, and the number of examples of each class.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.recall(np.array([[2, 1], [2, 1], [1, 2]], "f"), np.array([0, 1, 1]))
    (variable([1. , 0.5], dtype=float32), variable([1, 2]))
    """
    _, found, _, support = classification_summary(y, t, label_num, 1.0, ignore_label)
    return found, support


@removed()
def f1_score(
    y: Array, t: Array, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """Compute the harmonic mean of precision and recall of each class, and the support.

    Without gradient.

    Args:
        y: Scores, (n, classes, ...), floating; or (n, classes, 1, ...) for `t` of fewer axes.
        t: Right classes, (n, ...), integers.
        label_num: How many classes to tell of; by default up to the greatest in `t`.
        ignore_label: A class whose examples do not count.

    Returns:
        Two of (label_num,): of the dtype of `y`, and the number of examples of each class.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.f1_score(np.array([[2, 1], [2, 1], [1, 2], [1, 2]], "f"), np.array([0, 1, 1, 0]))
    (variable([0.5, 0.5], dtype=float32), variable([2, 2]))
    """
    _, _, found, support = classification_summary(y, t, label_num, 1.0, ignore_label)
    return found, support
