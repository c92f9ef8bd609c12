"""Accuracy of classification."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, integers, real
from core.errors.removed import removed
from core.typing import AnyArray, Array
from plugins.functions.labels import widened


class Accuracy(FunctionNode):
    """The share of examples whose greatest scores, `top_k` of them, have that of the right class.

    Of equal scores the first is the greatest, as for argmax.
    """

    ignore_label: int | None = None
    top_k: int = 1
    wide = True
    domain = Domain(
        "(n,c,...),(n,...)->()",
        y=real(-3, 3),
        t=integers(0, "c"),
        settings={"ignore_label": choice(None, 0, 7), "top_k": choice(1, 2)},
        dims={"c": (1, 4), "...": (0, 2)},
        valid="c > 0",
        leave_out={"gradient": "not differentiable"},
    )

    def prepare(self) -> None:
        if self.top_k < 1:
            raise ValueError(f"accuracy: expected top_k of 1 or more, got {self.top_k}")

    def compute(self, xp, y, t):
        t = widened(xp, t)
        right = self._right(xp, y, t)
        if self.ignore_label is None:
            return xp.sum(xp.astype(right, y.dtype)) / max(prod(t.shape), 1)
        counted = t != self.ignore_label
        count = xp.sum(xp.astype(counted, y.dtype))
        hits = xp.sum(xp.astype(right & counted, y.dtype))
        return hits / xp.maximum(count, xp.ones_like(count))

    def _right(self, xp: Any, y: AnyArray, t: AnyArray) -> AnyArray:
        if self.top_k == 1:
            return xp.astype(xp.argmax(y, axis=1), t.dtype) == t
        classes = xp.arange(y.shape[1], dtype=t.dtype, device=t.device)
        classes = xp.reshape(classes, (-1, *(1,) * (t.ndim - 1)))
        known = (t >= 0) & (t < y.shape[1])
        label = xp.expand_dims(xp.where(known, t, 0), axis=1)
        own = xp.take_along_axis(y, label, axis=1)
        before = ~(y <= own) | ((y == own) & (classes < label))
        return known & (xp.sum(xp.astype(before, t.dtype), axis=1) < self.top_k)


@removed()
def accuracy(y: Array, t: Array, ignore_label: int | None = None, *, top_k: int = 1) -> Variable:
    """Compute the share of examples whose greatest score is at the right class; no gradient.

    Args:
        y: Scores, (n, classes, ...), floating; or (n, classes, 1, ...) for `t` of fewer axes.
        t: Right classes, (n, ...), integers.
        ignore_label: A class whose examples do not count, or None.
        top_k: Among how many of the greatest scores that of the right class is to be.

    Returns:
        No axes, the dtype of `y`; 0 where no example counts.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `top_k` is less than 1.

    >>> import core.functions as F, numpy as np
    >>> y = np.array([[0.9, 0.1], [0.2, 0.8]], "f")
    >>> F.accuracy(y, np.array([0, 0]))
    variable(0.5, dtype=float32)
    >>> F.accuracy(y, np.array([0, -1]), ignore_label=-1)
    variable(1., dtype=float32)
    >>> F.accuracy(np.array([[0.5, 0.2, 0.3]], "f"), np.array([2]), top_k=2)
    variable(1., dtype=float32)
    """
    return Accuracy.call(with_axes_of_labels(y, t), t, ignore_label, top_k)


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
