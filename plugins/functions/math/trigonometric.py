"""Trigonometric functions and their inverses."""

from __future__ import annotations

from typing import Any

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class Sin(Elementwise):
    """Compute the sine of each element.

    The derivative is cos(x).

    >>> import core.functions as F, numpy as np
    >>> F.sin(np.array([0, 1], "f"))
    variable([0.      , 0.841471], dtype=float32)
    """

    label = "sin"
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.sin(x)

    def gradient(self, xp, g, x):
        return g * xp.cos(x)


class Cos(Elementwise):
    """Compute the cosine of each element.

    The derivative is -sin(x).

    >>> import core.functions as F, numpy as np
    >>> F.cos(np.array([0, 1], "f"))
    variable([1.       , 0.5403023], dtype=float32)
    """

    label = "cos"
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.cos(x)

    def gradient(self, xp, g, x):
        return -g * xp.sin(x)


class Tan(Elementwise):
    """Compute the tangent of each element.

    The derivative is 1 + tan(x)^2.

    >>> import core.functions as F, numpy as np
    >>> F.tan(np.array([0, 1], "f"))
    variable([0.       , 1.5574077], dtype=float32)
    """

    label = "tan"
    domain = Domain(x=real(-1.2, 1.2))

    def compute(self, xp, x):
        return xp.tan(x)

    def gradient(self, xp, g, out):
        return g * (out * out + 1)


class OneMinusSquare(Elementwise):
    """1 - x^2, where it is small as precise as elsewhere."""

    wide = True
    domain = Domain(x=real(-0.8, 0.8))

    def compute(self, xp, x):
        return (1 - x) * (1 + x)

    def gradient(self, xp, g, x):
        return g * x * -2.0


class Arcsin(Elementwise):
    """Compute the inverse sine of each element.

    The derivative is 1 / sqrt(1 - x^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`, in [-π/2, π/2]; NaN beyond.

    >>> import core.functions as F, numpy as np
    >>> F.arcsin(np.array([0, 1], "f"))
    variable([0.       , 1.5707964], dtype=float32)
    """

    label = "arcsin"
    wide = True  # 16 bits lose the distance from 1
    domain = Domain(x=real(-0.8, 0.8))

    def compute(self, xp, x):
        return xp.asin(x)

    def gradient(self, xp, g, x):
        return g / xp.sqrt(OneMinusSquare().evaluate(x))


class Arccos(Elementwise):
    """Compute the inverse cosine of each element.

    The derivative is -1 / sqrt(1 - x^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`, in [0, π]; NaN beyond.

    >>> import core.functions as F, numpy as np
    >>> F.arccos(np.array([0, 1], "f"))
    variable([1.5707964, 0.       ], dtype=float32)
    """

    label = "arccos"
    wide = True  # 16 bits lose the distance from 1
    domain = Domain(x=real(-0.8, 0.8))

    def compute(self, xp, x):
        return xp.acos(x)

    def gradient(self, xp, g, x):
        return -g / xp.sqrt(OneMinusSquare().evaluate(x))


class Arctan(Elementwise):
    """Compute the inverse tangent of each element.

    The derivative is 1 / (1 + x^2).

    Returns:
        The shape and dtype of `x`, in [-π/2, π/2].

    >>> import core.functions as F, numpy as np
    >>> F.arctan(np.array([0, 1], "f"))
    variable([0.       , 0.7853982], dtype=float32)
    """

    label = "arctan"
    wide = True  # 16 bits do not hold squares
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.atan(x)

    def gradient(self, xp, g, x):
        return g / (x * x + 1)


class Arctan2(Elementwise):
    """Compute the angle of the point (x2, x1): arctan(x1 / x2) in the right quadrant.

    With r the distance of the point, the derivatives are x2 / r^2 and -x1 / r^2; at (0, 0) they are
    taken as 0.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts.

    Returns:
        The common shape and dtype, in [-π, π].

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.arctan2(np.array([0, 1], "f"), np.array([1, 0], "f"))
    variable([0.       , 1.5707964], dtype=float32)
    """

    label = "arctan2"
    wide = True  # 16 bits do not hold squares
    domain = Domain(x1=real(0.5, 3), x2=real(-3, 3))

    def compute(self, xp, x1, x2):
        return xp.atan2(x1, x2)

    def gradient_x1(self, xp, g, x1, x2):
        return g * self._turn(xp, x2, x1)

    def gradient_x2(self, xp, g, x1, x2):
        return -g * self._turn(xp, x1, x2)

    def _turn(self, xp: Any, a: Any, b: Any) -> Any:
        """A / (a^2 + b^2), 0 where both are 0: of both over the greater, so that squares fit."""
        size = xp.maximum(xp.abs(a), xp.abs(b))
        size = xp.where(size == 0, 1.0, size)
        a, b = a / size, b / size
        return a / xp.maximum(a * a + b * b, 1.0) / size


sin = function_of(Sin, "sin")
cos = function_of(Cos, "cos")
tan = function_of(Tan, "tan")
arcsin = function_of(Arcsin, "arcsin")
arccos = function_of(Arccos, "arccos")
arctan = function_of(Arctan, "arctan")


arctan2 = function_of(Arctan2, "arctan2")
