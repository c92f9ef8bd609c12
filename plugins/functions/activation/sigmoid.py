"""The logistic sigmoid."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class SigmoidGradient(Elementwise):
    """g s (1 - s): the gradient of s = sigmoid(x)."""

    inline = True
    domain = Domain(g=real(-3, 3), s=real(0, 1))

    def compute(self, xp, g, s):
        return (g - g * s) * s

    def gradient_g(self, xp, gg, s):
        return (gg - gg * s) * s

    def gradient_s(self, xp, gg, g, s):
        return gg * (g - g * s * 2.0)


class Sigmoid(Elementwise):
    """Compute the logistic function of each element: 1 / (1 + exp(-x)).

    With s the result, the derivative is s (1 - s). Computed as exp(min(x, 0)) / (1 + exp(-|x|)) it
    cannot overflow, and far below 0 it is as precise as elsewhere: its logarithm is about x there.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [0, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sigmoid(np.array([0, 100], "f"))
    variable([0.5, 1. ], dtype=float32)
    """

    inline = True
    wide = True
    domain = Domain(x=real(-20, 20))

    def compute(self, xp, x):
        return xp.exp(xp.minimum(x, 0.0)) / (xp.exp(-xp.abs(x)) + 1.0)

    recorded_gradient = SigmoidGradient

    def gradient(self, xp, g, out):
        return (g - g * out) * out


sigmoid = function_of(Sigmoid, "sigmoid", "use_cudnn", "inplace")
