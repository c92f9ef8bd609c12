"""Exponential linear units."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, number, real
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.derived import function_of


class ELU(Elementwise):
    """Apply the exponential linear unit: x for x >= 0, otherwise alpha * (exp(x) - 1).

    The derivative for negative elements is alpha exp(x).

    The derivative at 0 is taken as `alpha`.

    Args:
        x: Floating, of any shape.
        alpha: What negative elements tend to, negated.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Clevert et al. 2016 (arXiv:1511.07289).

    >>> import core.functions as F, numpy as np
    >>> F.elu(np.array([-100, 2], "f"))
    variable([-1.,  2.], dtype=float32)
    """

    alpha: float = 1.0
    wide = True
    domain = Domain(x=real(-3, 3), kinks=(0,), settings={"alpha": number(0.5, 2.0)})

    def compute(self, xp, x):
        return xp.where(x >= 0, x, xp.expm1(xp.minimum(x, 0.0)) * self.alpha)

    def gradient(self, xp, g, x):
        return xp.where(x > 0, g, g * (xp.exp(xp.minimum(x, 0.0)) * self.alpha))


elu = function_of(ELU, "elu")


@checked
def selu(
    x: Array, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805
) -> Variable:
    """Apply the scaled exponential linear unit: scale * elu(x, alpha).

    With the defaults, activations of deep networks keep mean 0 and variance 1.

    Args:
        x: Floating, of any shape.
        alpha: The setting of `elu`.
        scale: The factor on its result.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Klambauer et al. 2017 (arXiv:1706.02515).

    >>> import core.functions as F, numpy as np
    >>> F.selu(np.array([-100, 1], "f"))
    variable([-1.7580993,  1.050701 ], dtype=float32)
    """
    return elu(x, alpha) * scale
