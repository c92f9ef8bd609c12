"""Remainders."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class Fmod(Elementwise):
    """Compute the remainder of the division of each element, with the sign of `x`, as C's fmod.

    It is x - n y with n = x / y cut off at the point; the derivatives are 1 and -n.

    Args:
        x: Floating, of any shape.
        divisor: Of the dtype of `x`, and a shape that broadcasts; a number will do.

    Returns:
        The common shape, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.fmod(np.array([-7, 7], "f"), 3)
    variable([-1.,  1.], dtype=float32)
    """

    label = "fmod"
    domain = Domain(x=real(-6, 6), divisor=real(1, 2))

    def compute(self, xp, x, divisor):
        # The standard's remainder has the sign of the divisor; of magnitudes both are the same.
        return xp.sign(x) * xp.remainder(xp.abs(x), xp.abs(divisor))

    def gradient_x(self, xp, g):
        return g

    def gradient_divisor(self, xp, g, x, divisor):
        return -g * xp.trunc(x / divisor)


fmod = function_of(Fmod, "fmod")
