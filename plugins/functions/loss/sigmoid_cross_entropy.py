"""The loss of binary classification."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, integers, real
from core.typing import AnyArray
from plugins.functions.derived import function_of
from plugins.functions.loss.reduction import check_reduce


class SigmoidCrossEntropy(FunctionNode):
    """Compute the cross entropy of labels and the sigmoid of scores: log(1 + exp(x)) - x * t.

    It is computed as w (max(x, 0) - x t + log(1 + exp(-|x|))), and the gradient is
    g w (sigmoid(x) - t): w is 0 for the label -1, otherwise 1, divided by the count where the mean
    is taken.

    Right for scores of any size: nothing can overflow.

    Args:
        x: Scores, floating, of any shape.
        t: Integers of the shape of `x`: 0 and 1, or -1 for what counts for nothing.
        normalize: Whether the mean is over the labels that are not -1; else it is the sum divided
            by the length of the first axis.
        reduce: 'mean', or 'no' for the loss of each element.

    Returns:
        No axes, or the shape of `x` with `reduce='no'`, and its dtype. 0 where all labels are -1.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    >>> import core.functions as F, numpy as np
    >>> F.sigmoid_cross_entropy(np.array([0, -1000], "f"), np.array([1, 1]), reduce="no")
    variable([6.931472e-01, 1.000000e+03], dtype=float32)
    """

    normalize: bool = True
    reduce: str = "mean"

    wide = True
    domain = Domain(
        "(...),(...)->(...b)",
        x=real(-8, 8),
        t=integers(-1, 2),
        settings={"normalize": choice(True, False), "reduce": choice("mean", "no")},
    )

    def prepare(self) -> None:
        check_reduce("sigmoid_cross_entropy", self.reduce)

    def compute(self, xp, x, t):
        loss = xp.maximum(x, 0.0) - x * xp.astype(t, x.dtype) + xp.log1p(xp.exp(-xp.abs(x)))
        loss = xp.where(t == -1, xp.zeros_like(loss), loss)
        if self.reduce == "no":
            return loss
        return xp.sum(loss, dtype=x.dtype) / self._count(xp, t, x.dtype)

    def _count(self, xp: Any, t: AnyArray, dtype: Any) -> AnyArray:
        """What the sum is divided by: the labels that are not -1, or the examples."""
        if not self.normalize:
            return t.shape[0] if t.ndim and t.shape[0] else 1
        count = xp.sum(xp.astype(t != -1, dtype))
        return xp.maximum(count, xp.ones_like(count))

    def gradient_x(self, xp, g, x, t):
        error = 0.5 * xp.tanh(0.5 * x) + 0.5 - xp.astype(t, x.dtype)
        if self.reduce == "mean":
            g = g / self._count(xp, t, x.dtype)
        return xp.where(t == -1, 0.0, g * error)


sigmoid_cross_entropy = function_of(SigmoidCrossEntropy, "sigmoid_cross_entropy")
