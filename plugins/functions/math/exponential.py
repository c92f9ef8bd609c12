"""Exponential functions."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, real
from core.typing import Array


class Exp(Elementwise):
    """exp(x), which is its own derivative."""

    label = "exp"
    inline = True
    domain = Domain("()->()", x=real(-3, 3))

    def compute(self, xp, x):
        return xp.exp(x)

    def gradient(self, xp, g, out):
        return g * out


class Expm1(Elementwise):
    """exp(x) - 1, whose derivative is exp(x)."""

    label = "expm1"
    domain = Domain("()->()", x=real(-3, 3))

    def compute(self, xp, x):
        return xp.expm1(x)

    def gradient(self, xp, g, out):
        return g * out + g


def exp(x: Array) -> Variable:
    """Compute the exponential function of each element.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.exp(np.array([0, 1], "f"))
    variable([1.      , 2.718282], dtype=float32)
    """
    return Exp.call(x)


def expm1(x: Array) -> Variable:
    """Compute exp(x) - 1 of each element, precise also near 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.expm1(np.array([0, 1e-6], "f"))
    variable([0.0000000e+00, 1.0000005e-06], dtype=float32)
    """
    return Expm1.call(x)
