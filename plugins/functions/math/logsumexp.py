"""Logarithms of sums of exponentials."""

from __future__ import annotations

from core import Domain, FunctionNode, axes, choice, real
from core.typing import Axis
from plugins.functions.axes import axes_of, kept_shape
from plugins.functions.derived import function_of


class LogSumExp(FunctionNode):
    """Compute the logarithm of the sum of exponentials over axes, without overflow.

    With y the result, the gradient is that of the softmax: g exp(x - y).

    Args:
        x: Floating, of any shape.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`; -inf where all elements are.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.logsumexp(np.array([[1000, -1000], [0, 0]], "f"), axis=1)
    variable([1.000000e+03, 6.931472e-01], dtype=float32)
    """

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(-6, 6),
        settings={
            "axis": axes("x", many=True, none=True, nonempty=True),
            "keepdims": choice(False, True),
        },
        empty=False,
    )

    def compute(self, xp, x):
        top = xp.max(x, axis=self.axis, keepdims=True)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = xp.sum(xp.exp(x - top), axis=self.axis, keepdims=True, dtype=x.dtype)
        nothing = total == 0  # only where all are -inf; its logarithm would warn
        total = xp.log(xp.where(nothing, xp.ones_like(total), total)) + top
        total = xp.where(nothing, xp.full_like(total, -xp.inf), total)
        return total if self.keepdims else xp.squeeze(total, axis=axes_of(self.axis, x.ndim))

    def gradient(self, xp, g, x, out):
        kept = kept_shape(x.shape, self.axis)
        # Where all are -inf, the result is -inf too, and no element has a share in it.
        out = xp.where(out == float("-inf"), 0.0, out)
        return xp.reshape(g, kept) * xp.exp(x - xp.reshape(out, kept))


logsumexp = function_of(LogSumExp, "logsumexp", by_name=("keepdims",))
