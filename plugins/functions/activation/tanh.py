"""The hyperbolic tangent."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, real
from core.errors.removed import removed
from core.typing import Array


class Tanh(Elementwise):
    """tanh(x), whose derivative is 1 - tanh(x)^2."""

    inline = True
    domain = Domain(x=real(-4, 4))

    def compute(self, xp, x):
        return xp.tanh(x)

    def gradient(self, xp, g, out):
        return g - g * out * out


@removed("use_cudnn", "inplace")
def tanh(x: Array) -> Variable:
    """Compute the hyperbolic tangent of each element.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [-1, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.tanh(np.array([0, 1], "f"))
    variable([0.       , 0.7615942], dtype=float32)
    """
    return Tanh.call(x)
