"""Mish, a smooth activation that lets a little of the negative side through."""

from typing import Any

from core import Domain, Elementwise, Variable, real


class Mish(Elementwise):
    """x t with t = tanh(softplus(x)); its derivative is t + x (1 - t^2) sigmoid(x)."""

    domain = Domain(x=real(-6, 6))

    def compute(self, xp, x):
        return x * xp.tanh(xp.logaddexp(x, 0.0))

    def gradient(self, xp, g, x):
        t = xp.tanh(xp.logaddexp(x, 0.0))
        sigmoid = 0.5 * xp.tanh(0.5 * x) + 0.5
        return g * (t + x * (1.0 - t * t) * sigmoid)


def mish(x: Any) -> Variable:
    """Mish activation, x tanh(log(1 + exp(x))), elementwise.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Source: Misra 2019 (arXiv:1908.08681), equation 1.

    >>> import core.functions as F, numpy as np
    >>> F.mish(np.zeros(2, "f"))
    variable([0., 0.], dtype=float32)
    """
    return Mish.call(x)
