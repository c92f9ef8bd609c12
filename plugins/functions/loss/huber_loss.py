"""The loss that is quadratic near 0 and linear beyond."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, number, real
from core.typing import AnyArray, NotNegative
from plugins.functions.derived import function_of
from plugins.functions.loss.reduction import check_reduce

REDUCTIONS = ("sum_along_second_axis", "no")


class HuberLoss(FunctionNode):
    """Compute the Huber loss: half the squared difference up to `delta`, and linear beyond.

    With d = x - t it is d^2 / 2 for |d| < delta, otherwise delta (|d| - delta / 2). The derivative
    is d, cut off at -delta and delta.

    Args:
        x: Floating, of any shape; at least two axes unless `reduce` is 'no'.
        t: Of the shape and dtype of `x`.
        delta: Where the square ends, greater than 0.
        reduce: 'sum_along_second_axis', or 'no' for the loss of each element.

    Returns:
        The shape of `x`, without axis 1 where it is summed over, and its dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Huber 1964, "Robust estimation of a location parameter".

    >>> import core.functions as F, numpy as np
    >>> F.huber_loss(np.array([[1, 5]], "f"), np.zeros((1, 2), "f"), delta=2)
    variable([8.5], dtype=float32)
    """

    delta: NotNegative
    reduce: str = "sum_along_second_axis"

    wide = True
    domain = Domain(
        "(...),(...)->(...b)",
        x=real(-3, 3),
        t=real(-3, 3),
        settings={"delta": number(1.0, 4.0), "reduce": choice(*REDUCTIONS)},
        valid="reduce == 'no' or x.ndim >= 2",
    )

    def prepare(self) -> None:
        check_reduce("huber_loss", self.reduce, REDUCTIONS)

    def compute(self, xp, x, t):
        size = xp.abs(x - t)
        near = xp.minimum(size, self.delta)
        loss = near * (size - 0.5 * near)
        return loss if self.reduce == "no" else xp.sum(loss, axis=1, dtype=x.dtype)

    def gradient_x(self, xp, g, x, t):
        return self._each(xp, g) * xp.clip(x - t, -self.delta, self.delta)

    def gradient_t(self, xp, g, x, t):
        return self._each(xp, g) * xp.clip(t - x, -self.delta, self.delta)

    def _each(self, xp: Any, g: AnyArray) -> AnyArray:
        return g if self.reduce == "no" else xp.expand_dims(g, axis=1)


huber_loss = function_of(HuberLoss, "huber_loss")
