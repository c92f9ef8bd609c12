"""The loss of triplets: an anchor is to be nearer to a similar example than to another."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, choice, number, real
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.loss.reduction import check_reduce


class Triplet(FunctionNode):
    """max(|a - p|^2 - |a - n|^2 + margin, 0) of rows; derivatives are differences of the rows."""

    margin: float = 0.2
    reduce: str = "mean"

    wide = True
    domain = Domain(
        "(n,k),(n,k),(n,k)->(...b)",
        anchor=real(-2, 2),
        positive=real(-2, 2),
        negative=real(-2, 2),
        settings={"margin": number(1.0, 4.0), "reduce": choice("mean", "no")},
        dims={"k": (1, 4)},
    )

    def prepare(self) -> None:
        check_reduce("triplet", self.reduce)

    def compute(self, xp, anchor, positive, negative):
        # |a - p|² - |a - n|² as a product: two squares of a far anchor are of one size.
        apart = (negative - positive) * ((anchor - positive) + (anchor - negative))
        loss = xp.maximum(xp.sum(apart, axis=1, dtype=anchor.dtype) + self.margin, 0.0)
        if self.reduce == "no":
            return loss
        return xp.sum(loss, dtype=anchor.dtype) / max(anchor.shape[0], 1)

    def gradient(self, xp, g, anchor, positive, negative):
        near, far = anchor - positive, anchor - negative
        between = negative - positive
        excess = xp.sum(between * (near + far), axis=1) + self.margin
        if self.reduce == "mean":
            g = g / max(anchor.shape[0], 1)
        g = xp.expand_dims(2.0 * g * xp.astype(excess > 0, near.dtype), axis=1)
        return g * between, -g * near, g * far


@checked
def triplet(
    anchor: Array, positive: Array, negative: Array, margin: float = 0.2, reduce: str = "mean"
) -> Variable:
    """Compute the triplet loss: max(|anchor - positive|² - |anchor - negative|² + margin, 0).

    The derivative at the hinge is taken as 0.

    Args:
        anchor: Vectors, (n, k), floating.
        positive: Vectors that belong with the anchors, of the same shape and dtype.
        negative: Vectors that do not, of the same shape and dtype.
        margin: How much nearer the positive ones are to be, in squared distance; above 0.
        reduce: 'mean', or 'no' for the loss of each triplet.

    Returns:
        No axes, or (n,) with `reduce='no'`, and the dtype of `anchor`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `margin` is not above 0, or `reduce` is unknown.

    Source: Schroff, Kalenichenko and Philbin 2015 (arXiv:1503.03832), equation 3.

    >>> import core.functions as F, numpy as np
    >>> a, p, n = (np.array([[x]], "f") for x in (0, 2, 1))
    >>> F.triplet(a, p, n, margin=0.5)
    variable(3.5, dtype=float32)
    """
    if not margin > 0:
        raise ValueError(f"triplet: expected a margin above 0, got {margin}")
    return Triplet.call(anchor, positive, negative, margin, reduce)
