"""The loss of support vector machines."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, integers, real
from core.typing import AnyArray
from plugins.functions.derived import function_of
from plugins.functions.labels import refuse_outside, widened
from plugins.functions.loss.reduction import check_reduce


class Hinge(FunctionNode):
    """Compute the one-against-rest hinge loss: max(0, 1 - x) at the label, max(0, 1 + x) elsewhere.

    It is m = max(0, 1 + s x), or its square, with s = -1 at the label and 1 elsewhere.

    The derivative at the hinge is taken as 0.

    Args:
        x: Scores, (n, classes), floating.
        t: Labels, (n,), integers in [0, classes).
        norm: 'L1', or 'L2' for squares.
        reduce: 'mean' for the sum over the classes, averaged over the examples; or 'no' for the
            loss of each score.

    Returns:
        No axes, or the shape of `x` with `reduce='no'`, and its dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A label is not a class; where devices run ahead, under `core.config.debug`.
        ValueError: A setting is unknown.

    >>> import core.functions as F, numpy as np
    >>> F.hinge(np.array([[2, -3], [0.5, 0.5]], "f"), np.array([0, 0]))
    variable(1., dtype=float32)
    """

    norm: str = "L1"
    reduce: str = "mean"

    wide = True
    domain = Domain(
        "(n,c),(n)->(...b)",
        x=real(-3, 3, kinks=(-1, 1)),
        t=integers(0, "c"),
        settings={"norm": choice("L1", "L2"), "reduce": choice("mean", "no")},
        dims={"c": (1, 4)},
    )

    def prepare(self) -> None:
        check_reduce("hinge", self.reduce)
        if self.norm not in ("L1", "L2"):
            raise ValueError(f"hinge: expected norm to be 'L1' or 'L2', got {self.norm!r}")

    def compute(self, xp, x, t):
        refuse_outside(
            "Hinge", self.backend, "t", t, x.shape[1], "Labels are numbers of columns of x."
        )
        margin = xp.maximum(x * self._signs(xp, x, t) + 1, 0.0)
        if self.norm == "L2":
            margin = margin * margin
        if self.reduce == "no":
            return margin
        return xp.sum(margin, dtype=x.dtype) / max(x.shape[0], 1)

    def _signs(self, xp: Any, x: AnyArray, t: AnyArray) -> AnyArray:
        t = widened(xp, t)
        classes = xp.arange(x.shape[1], dtype=t.dtype, device=t.device)
        return 1.0 - 2.0 * xp.astype(classes == t[:, None], x.dtype)

    def gradient_x(self, xp, g, x, t):
        signs = self._signs(xp, x, t)
        margin = xp.maximum(x * signs + 1, 0.0)
        slope = xp.sign(margin) if self.norm == "L1" else 2.0 * margin
        if self.reduce == "mean":
            g = g / max(x.shape[0], 1)
        return g * signs * slope


hinge = function_of(Hinge, "hinge")
