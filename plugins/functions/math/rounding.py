"""Rounding to whole numbers."""

from __future__ import annotations

from core import Domain, Elementwise, Variable, real
from core.typing import Array

WHOLE = {"gradient": "integer-valued", "double_gradient": "integer-valued"}


class Floor(Elementwise):
    """The greatest whole number not above x; its derivative is 0 wherever it has one."""

    label = "floor"
    domain = Domain("()->()", x=real(-1.9, 1.9), kinks=(-1, 0, 1), leave_out=WHOLE)

    def compute(self, xp, x):
        return xp.floor(x)

    def gradient(self, xp, g):
        return g * 0.0


class Ceil(Elementwise):
    """The least whole number not below x; its derivative is 0 wherever it has one."""

    label = "ceil"
    domain = Domain("()->()", x=real(-1.9, 1.9), kinks=(-1, 0, 1), leave_out=WHOLE)

    def compute(self, xp, x):
        return xp.ceil(x)

    def gradient(self, xp, g):
        return g * 0.0


class Fix(Elementwise):
    """x without its fractional part; its derivative is 0 wherever it has one."""

    label = "fix"
    domain = Domain("()->()", x=real(-1.9, 1.9), kinks=(-1, 1), leave_out=WHOLE)

    def compute(self, xp, x):
        return xp.trunc(x)

    def gradient(self, xp, g):
        return g * 0.0


def floor(x: Array) -> Variable:
    """Round each element down. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.floor(np.array([-1.5, 1.5], "f"))
    variable([-2.,  1.], dtype=float32)
    """
    return Floor.call(x)


def ceil(x: Array) -> Variable:
    """Round each element up. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.ceil(np.array([-1.5, 1.5], "f"))
    variable([-1.,  2.], dtype=float32)
    """
    return Ceil.call(x)


def fix(x: Array) -> Variable:
    """Round each element towards 0. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.fix(np.array([-1.5, 1.5], "f"))
    variable([-1.,  1.], dtype=float32)
    """
    return Fix.call(x)
