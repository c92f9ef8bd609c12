"""Hyperbolic functions; `tanh` is among the activations."""

from __future__ import annotations

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of
from plugins.functions.math.trigonometric import OneMinusSquare


class Sinh(Elementwise):
    """Compute the hyperbolic sine of each element.

    The derivative is cosh(x).

    >>> import core.functions as F, numpy as np
    >>> F.sinh(np.array([0, 1], "f"))
    variable([0.       , 1.1752012], dtype=float32)
    """

    label = "sinh"
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.sinh(x)

    def gradient(self, xp, g, x):
        return g * xp.cosh(x)


class Cosh(Elementwise):
    """Compute the hyperbolic cosine of each element.

    The derivative is sinh(x).

    >>> import core.functions as F, numpy as np
    >>> F.cosh(np.array([0, 1], "f"))
    variable([1.       , 1.5430807], dtype=float32)
    """

    label = "cosh"
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.cosh(x)

    def gradient(self, xp, g, x):
        return g * xp.sinh(x)


class Arcsinh(Elementwise):
    """Compute the inverse hyperbolic sine of each element.

    The derivative is 1 / sqrt(x^2 + 1).

    >>> import core.functions as F, numpy as np
    >>> F.arcsinh(np.array([0, 1], "f"))
    variable([0.       , 0.8813736], dtype=float32)
    """

    label = "arcsinh"
    wide = True  # 16 bits do not hold squares
    domain = Domain(x=real(-3, 3))

    def compute(self, xp, x):
        return xp.asinh(x)

    def gradient(self, xp, g, x):
        return g / xp.sqrt(x * x + 1)


class Arccosh(Elementwise):
    """Compute the inverse hyperbolic cosine of each element.

    The derivative is 1 / sqrt(x^2 - 1).

    Args:
        x: Floating, of any shape, at least 1.

    Returns:
        The shape and dtype of `x`; NaN below 1.

    >>> import core.functions as F, numpy as np
    >>> F.arccosh(np.array([1, 2], "f"))
    variable([0.      , 1.316958], dtype=float32)
    """

    label = "arccosh"
    wide = True  # 16 bits do not hold squares
    domain = Domain(x=real(1.5, 4))

    def compute(self, xp, x):
        return xp.acosh(x)

    def gradient(self, xp, g, x):
        return g / (xp.sqrt(x - 1) * xp.sqrt(x + 1))


class Arctanh(Elementwise):
    """Compute the inverse hyperbolic tangent of each element.

    The derivative is 1 / (1 - x^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`; infinite at -1 and 1, NaN beyond.

    >>> import core.functions as F, numpy as np
    >>> F.arctanh(np.array([0, 0.5], "f"))
    variable([0.        , 0.54930615], dtype=float32)
    """

    label = "arctanh"
    wide = True  # 16 bits lose the distance from 1
    domain = Domain(x=real(-0.8, 0.8))

    def compute(self, xp, x):
        return xp.atanh(x)

    def gradient(self, xp, g, x):
        return g / OneMinusSquare().evaluate(x)


sinh = function_of(Sinh, "sinh")
cosh = function_of(Cosh, "cosh")
arcsinh = function_of(Arcsinh, "arcsinh")
arccosh = function_of(Arccosh, "arccosh")
arctanh = function_of(Arctanh, "arctanh")
