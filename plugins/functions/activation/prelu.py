"""The leaky rectifier with learnable slopes."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, real
from core.typing import Array
from plugins.functions.math.alongside import alongside


class PReLU(Elementwise):
    """x for x >= 0, else W x."""

    domain = Domain(x=real(-3, 3, kinks=(0,)), W=real(-1, 1))

    def compute(self, xp, x, W):
        return xp.where(x >= 0, x, W * x)

    def gradient_x(self, xp, g, x, W):
        return xp.where(x >= 0, g, g * W)

    def gradient_W(self, xp, g, x):
        return xp.where(x >= 0, 0.0, g * x)


def prelu(x: Array, W: Array) -> Variable:
    """Apply the leaky rectifier with learnable slopes: x for x >= 0, otherwise W * x.

    The derivative with respect to `x` at 0 is taken as 1.

    Args:
        x: Floating, (n, ...).
        W: Slopes, of the dtype of `x` and the shape of its axes from the second on, as many of them
            as `W` has.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    Source: He et al. 2015 (arXiv:1502.01852), equation 1.

    >>> import core.functions as F, numpy as np
    >>> F.prelu(np.array([[-1, -1], [1, 1]], "f"), np.array([0.5, 2], "f"))
    variable([[-0.5, -2. ],
              [ 1. ,  1. ]], dtype=float32)
    """
    return PReLU.call(x, alongside("prelu", x, W, 1, "W"))
