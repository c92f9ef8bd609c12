"""The smooth rectifier."""

from __future__ import annotations

from core import Domain, Elementwise, number, real
from plugins.functions.activation.sigmoid import Sigmoid
from plugins.functions.derived import function_of


class Softplus(Elementwise):
    """Apply a smooth rectifier, without overflow: log(1 + exp(beta * x)) / beta.

    The derivative is the sigmoid of beta x.

    Args:
        x: Floating, of any shape.
        beta: The greater, the nearer to `relu`.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Dugas et al. 2001, "Incorporating second-order functional knowledge for better option
    pricing".

    >>> import core.functions as F, numpy as np
    >>> F.softplus(np.array([0, 1000], "f"))
    variable([6.931472e-01, 1.000000e+03], dtype=float32)
    """

    beta: float = 1.0
    wide = True
    domain = Domain(x=real(-8, 8), settings={"beta": number(0.5, 2.0)})

    @property
    def beta_inv(self) -> float:
        """1 / beta."""
        return 1.0 / self.beta

    def compute(self, xp, x):
        z = x * self.beta
        return (xp.maximum(z, 0.0) + xp.log1p(xp.exp(-xp.abs(z)))) / self.beta

    def gradient(self, xp, g, x):
        return g * Sigmoid().evaluate(x * self.beta)


softplus = function_of(Softplus, "softplus")
