"""Absolute values."""

from __future__ import annotations

from typing import Any

from core import Domain, Elementwise, Variable, numeric


class Absolute(Elementwise):
    """|x|, whose derivative is the sign of x, taken as 0 at 0."""

    label = "|_|"
    inline = True
    domain = Domain(x=numeric(-3, 3), kinks=(0,))

    def compute(self, xp, x):
        return xp.abs(x)

    def gradient(self, xp, g, x):
        return g * xp.sign(x)


def absolute(self: Any) -> Variable:
    """Compute the absolute value of each element.

    The derivative at 0 is taken as 0.

    Args:
        self: Floating, of any shape.

    Returns:
        The same shape and dtype.

    Raises:
        InvalidType: The dtype is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.absolute(np.array([-2, 3], "f"))
    variable([2., 3.], dtype=float32)
    """
    return Absolute.call(self)
