"""The loss of pairs, which pulls similar ones together and pushes others apart."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, choice, integers, number, real
from core.errors.kinds import checked
from core.typing import AnyArray, Array
from plugins.functions.loss.reduction import check_reduce


class Contrastive(FunctionNode):
    """(y d^2 + (1 - y) max(margin - d, 0)^2) / 2, of the distance d = |x0 - x1|.

    The derivative along x0 is (y - (1 - y) max(margin / d - 1, 0)) (x0 - x1).
    """

    margin: float = 1.0
    reduce: str = "mean"

    wide = True
    domain = Domain(
        "(n,k),(n,k),(n)->(...b)",
        x0=real(-2, 2, distinct=True),
        x1=real(-2, 2, distinct=True),
        y=integers(0, 2),
        settings={"margin": number(2.0, 6.0), "reduce": choice("mean", "no")},
        dims={"k": (1, 4)},
    )

    def prepare(self) -> None:
        check_reduce("contrastive", self.reduce)

    def compute(self, xp, x0, x1, y):
        squared = xp.sum((x0 - x1) ** 2, axis=1, dtype=x0.dtype)
        short = xp.maximum(self.margin - xp.sqrt(squared), 0.0)
        loss = 0.5 * xp.where(y == 1, squared, short * short)
        if self.reduce == "no":
            return loss
        return xp.sum(loss, dtype=x0.dtype) / max(x0.shape[0], 1)

    def gradient_x0(self, xp, g, x0, x1, y):
        return self._pull(xp, g, x0, x1, y)

    def gradient_x1(self, xp, g, x0, x1, y):
        return self._pull(xp, g, x1, x0, y)

    def _pull(self, xp: Any, g: AnyArray, x0: AnyArray, x1: AnyArray, y: AnyArray) -> AnyArray:
        difference = x0 - x1
        squared = xp.sum(difference * difference, axis=1)
        # Where both are the same there is no direction to push into: the gradient is 0.
        distance = xp.sqrt(xp.where(squared == 0, 1.0, squared))
        push = -xp.maximum(self.margin / distance - 1, 0.0)
        if self.reduce == "mean":
            g = g / max(x0.shape[0], 1)
        return xp.expand_dims(g * xp.where(y == 1, 1.0, push), axis=1) * difference


@checked
def contrastive(
    x0: Array, x1: Array, y: Array, margin: float = 1, reduce: str = "mean"
) -> Variable:
    """Compute the contrastive loss: d²/2 where y is 1, max(margin - d, 0)²/2 where it is 0.

    d is the Euclidean distance of each two rows. The derivative where they are equal is taken as 0.

    Args:
        x0: Vectors, (n, k), floating.
        x1: Of the shape and dtype of `x0`.
        y: Integers, (n,): 1 for pairs that belong together, 0 for others.
        margin: The distance from which on others cost nothing, above 0.
        reduce: 'mean', or 'no' for the loss of each pair.

    Returns:
        No axes, or (n,) with `reduce='no'`, and the dtype of `x0`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `margin` is not above 0, or `reduce` is unknown.

    Source: Hadsell, Chopra and LeCun 2006, "Dimensionality reduction by learning an invariant
    mapping", equation 4.

    >>> import core.functions as F, numpy as np
    >>> x0, x1 = np.zeros((2, 2), "f"), np.array([[3, 4], [0, 0.5]], "f")
    >>> F.contrastive(x0, x1, np.array([1, 0]), reduce="no")
    variable([12.5  ,  0.125], dtype=float32)
    """
    if not margin > 0:
        raise ValueError(f"contrastive: expected a margin above 0, got {margin}")
    return Contrastive.call(x0, x1, y, margin, reduce)
