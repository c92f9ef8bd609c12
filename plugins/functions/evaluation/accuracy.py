"""Accuracy of classification."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, integers, real
from core.errors.removed import removed
from core.typing import Array
from plugins.functions.labels import widened


class Accuracy(FunctionNode):
    """The share of examples whose greatest score is at the right class."""

    ignore_label: int | None = None
    wide = True
    domain = Domain(
        "(n,c,...),(n,...)->()",
        y=real(-3, 3),
        t=integers(0, "c"),
        settings={"ignore_label": choice(None, 0, 7)},
        dims={"c": (1, 4), "...": (0, 2)},
        leave_out={"gradient": "not differentiable"},
    )

    def compute(self, xp, y, t):
        t = widened(xp, t)
        right = xp.astype(xp.argmax(y, axis=1), t.dtype) == t
        if self.ignore_label is None:
            return xp.sum(xp.astype(right, y.dtype)) / max(prod(t.shape), 1)
        counted = t != self.ignore_label
        count = xp.sum(xp.astype(counted, y.dtype))
        hits = xp.sum(xp.astype(right & counted, y.dtype))
        return hits / xp.maximum(count, xp.ones_like(count))


@removed()
def accuracy(y: Array, t: Array, ignore_label: int | None = None) -> Variable:
    """Compute the share of examples whose greatest score is at the right class; no gradient.

    Args:
        y: Scores, (n, classes, ...), floating; or (n, classes, 1, ...) for `t` of fewer axes.
        t: Right classes, (n, ...), integers.
        ignore_label: A class whose examples do not count, or None.

    Returns:
        No axes, the dtype of `y`; 0 where no example counts.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> y = np.array([[0.9, 0.1], [0.2, 0.8]], "f")
    >>> F.accuracy(y, np.array([0, 0]))
    variable(0.5, dtype=float32)
    >>> F.accuracy(y, np.array([0, -1]), ignore_label=-1)
    variable(1., dtype=float32)
    """
    return Accuracy.call(with_axes_of_labels(y, t), t, ignore_label)


def with_axes_of_labels(y: Any, t: Any) -> Any:
    """Scores without the last axes of length 1 that their labels do not have.

    >>> import numpy as np
    >>> with_axes_of_labels(np.zeros((2, 3, 1, 1)), np.array([0, 1])).shape
    (2, 3)
    """
    y, t = as_variable(y), as_variable(t)
    extra = y.ndim - t.ndim - 1
    if extra > 0 and y.shape[y.ndim - extra :] == (1,) * extra:
        return y.reshape(y.shape[: y.ndim - extra])
    return y
