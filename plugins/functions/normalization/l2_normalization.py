"""Division by the Euclidean norm."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, axes, number, real
from core.typing import AnyArray, Axis, NotNegative
from plugins.functions.derived import function_of


class NormalizeL2(FunctionNode):
    """Divide by the Euclidean norm over `axis`: y = x / (‖x‖ + ε).

    At x = 0 the derivative is that of x / eps, and the second derivative, which does not exist
    there, is given as 0.

    Args:
        x: Floating.
        eps: Added to the norm, so that zeros stay zeros.
        axis: The axis of the vectors, or several axes, whose elements together are a vector.

    Returns:
        The shape and dtype of `x`. The gradient at a vector of zeros is that of x / ε.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.normalize(np.array([[3, 4]], "f"), eps=1e-8)
    variable([[0.6, 0.8]], dtype=float32)
    """

    eps: NotNegative = 1e-5
    axis: Axis = 1

    wide = True
    saved = ("norm",)
    domain = Domain(
        "(...x)->(...x)",
        x=real(-3, 3),
        settings={"eps": number(1e-2, 1e-1), "axis": axes("x", many=True)},
        dims={"...x": (2, 3)},
    )

    def recompute_norm(self, xp: Any, x: AnyArray) -> AnyArray:
        squares = xp.sum(x * x, axis=self.axis, keepdims=True)
        zeros, ones = xp.zeros_like(squares), xp.ones_like(squares)
        root = xp.sqrt(xp.where(squares == 0, ones, squares))
        return xp.where(squares == 0, zeros, root)

    def compute(self, xp, x):
        self.norm = self.recompute_norm(xp, x)
        return x / (self.norm + self.eps)

    def gradient(self, xp, g, x, norm):
        length = norm + self.eps
        along = xp.sum(g * x, axis=self.axis, keepdims=True)
        divisor = xp.where(norm > 0, norm, xp.ones_like(norm)) * length * length
        return g / length - x * (along / divisor)


normalize = function_of(NormalizeL2, "normalize")
