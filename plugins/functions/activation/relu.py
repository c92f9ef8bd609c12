"""The rectified linear unit."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class ReLUGradient(Elementwise):
    """g where y > 0, else 0: the gradient of y = max(x, 0)."""

    inline = True
    domain = Domain(g=real(-3, 3), y=real(0, 3), kinks=(0,))

    def compute(self, xp, g, y):
        return xp.where(y > 0, g, 0.0)

    def gradient_g(self, xp, gg, y):
        return xp.where(y > 0, gg, 0.0)


class ReLU(Elementwise):
    """Set negative elements to zero: max(x, 0).

    The derivative is 1 for x > 0, and 0 for x < 0.

    The derivative at 0 is taken as 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Nair and Hinton 2010, "Rectified linear units improve restricted Boltzmann machines".

    >>> import core.functions as F, numpy as np
    >>> F.relu(np.array([-1, 2], "f"))
    variable([0., 2.], dtype=float32)
    """

    inline = True
    domain = Domain(x=real(-3, 3), kinks=(0,))

    def compute(self, xp, x):
        return xp.maximum(x, 0.0)

    recorded_gradient = ReLUGradient

    def gradient(self, xp, g, out):
        return xp.where(out > 0, g, 0.0)


relu = function_of(ReLU, "relu", "use_cudnn", "inplace")
