"""The loss that is squared near 0 and straight beyond."""

from __future__ import annotations

from typing import Any

from core import Domain, Elementwise, Variable, number, real
from plugins.functions.loss.reduction import check_reduce
from plugins.functions.math.sum import sum


class HuberLoss(Elementwise):
    """d^2 / 2 for |d| < delta, else delta (|d| - delta / 2), of d = x - t.

    The derivative is d, cut off at -delta and delta.
    """

    delta: float
    domain = Domain("(),()->()", x=real(-3, 3), t=real(-3, 3), settings={"delta": number(1.0, 4.0)})

    def compute(self, xp, x, t):
        size = xp.abs(x - t)
        near = xp.minimum(size, self.delta)
        return near * (size - 0.5 * near)

    def gradient_x(self, xp, g, x, t):
        return g * xp.clip(x - t, -self.delta, self.delta)

    def gradient_t(self, xp, g, x, t):
        return g * xp.clip(t - x, -self.delta, self.delta)


def huber_loss(x: Any, t: Any, delta: float, reduce: str = "sum_along_second_axis") -> Variable:
    """The Huber loss: half the squared difference up to `delta`, and straight on from there.

    Args:
        x: Floating, of any shape; at least two axes unless `reduce` is 'no'.
        t: Of the dtype of `x`, and a shape that broadcasts.
        delta: Where the square ends, greater than 0.
        reduce: 'sum_along_second_axis', or 'no' for the loss of each element.

    Returns:
        The common shape, without axis 1 where it is summed over, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Huber 1964, "Robust estimation of a location parameter".

    >>> import core.functions as F, numpy as np
    >>> F.huber_loss(np.array([[1, 5]], "f"), np.zeros((1, 2), "f"), delta=2)
    variable([8.5], dtype=float32)
    """
    check_reduce("huber_loss", reduce, ("sum_along_second_axis", "no"))
    loss = HuberLoss.call(x, t, delta)
    return loss if reduce == "no" else sum(loss, axis=1)
