"""The hyperbolic tangent."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class TanhGradient(Elementwise):
    """g (1 - y^2): the gradient of y = tanh(x)."""

    inline = True
    domain = Domain(g=real(-3, 3), y=real(-1, 1))

    def compute(self, xp, g, y):
        return g - g * y * y

    def gradient_g(self, xp, gg, y):
        return gg - gg * y * y

    def gradient_y(self, xp, gg, g, y):
        return gg * g * y * -2.0


class Tanh(Elementwise):
    """Compute the hyperbolic tangent of each element.

    The derivative is 1 - tanh(x)^2.

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

    inline = True
    wide = True
    domain = Domain(x=real(-4, 4))

    def compute(self, xp, x):
        return xp.tanh(x)

    recorded_gradient = TanhGradient

    def gradient(self, xp, g, out):
        return g - g * out * out


tanh = function_of(Tanh, "tanh", "use_cudnn", "inplace")
