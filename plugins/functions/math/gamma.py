"""The logarithm of the gamma function, and its derivatives."""

from __future__ import annotations

from math import pi
from typing import Any

from core import Domain, Elementwise, Variable, as_variable, integers, real
from core.errors.scalars import is_whole
from core.typing import Operand
from plugins.functions.derived import function_of
from plugins.functions.math import gamma_functions
from plugins.functions.math.zeta import Zeta


class LGamma(Elementwise):
    """Compute the logarithm of the gamma function's magnitude, log |Γ(x)|, for each element.

    The derivative is digamma.

    Returns:
        The shape and dtype of `x`; infinite at 0, -1, -2, ..., and at both infinities.

    >>> import core.functions as F, numpy as np
    >>> F.lgamma(np.array([5, -0.5], "d"))
    variable([3.17805383, 1.26551212])
    """

    label = "lgamma"
    wide = True
    domain = Domain(x=real(0.3, 9))

    def compute(self, xp, x):
        return gamma_functions.in_double(xp, gamma_functions.lgamma, x, like=x)

    def gradient(self, xp, g, x):
        return g * Digamma().evaluate(x)


class Digamma(Elementwise):
    """Compute the derivative of the gamma function's logarithm for each element.

    The derivative is the sum of 1 / (x + k)^2 over k = 0, 1, 2, ...

    Returns:
        The shape and dtype of `x`; NaN at -1, -2, ..., and infinite at 0, with the other sign.

    >>> import core.functions as F, numpy as np
    >>> F.digamma(np.array([1, 0.5], "d"))
    variable([-0.57721566, -1.96351003])
    """

    label = "digamma"
    wide = True
    domain = Domain(x=real(0.3, 9))

    def compute(self, xp, x):
        return gamma_functions.in_double(xp, gamma_functions.digamma, x, like=x)

    def gradient(self, xp, g, x):
        return g * Trigamma().evaluate(x)


class Trigamma(Elementwise):
    """The derivative of digamma; its own is -2 zeta(3, x), mirrored below 0."""

    label = "polygamma"
    wide = True
    domain = Domain(x=real(0.3, 9))

    def compute(self, xp, x):
        return gamma_functions.in_double(xp, gamma_functions.trigamma, x, like=x)

    def gradient(self, xp, g, x):
        mirrored = x < 0
        above = xp.where(mirrored, 1.0 - x, x)
        slope = 2 * Zeta().evaluate(xp.ones_like(x) * 3.0, above)
        # By the distance from the nearest whole number, which is exact, as x pi is not.
        turned = xp.where(mirrored, x - xp.floor(x + 0.5), 0.5) * pi
        sine = xp.sin(turned)
        bend = 2 * pi**3 * xp.cos(turned) / (sine * sine * sine)
        return -g * (slope + xp.where(mirrored, bend, 0.0))


class Polygamma(Elementwise):
    """The n-th derivative of digamma, whose derivative is the next one."""

    label = "polygamma"
    wide = True
    keeps_dtype = False
    domain = Domain(n=integers(0, 4), x=real(0.5, 6))

    def compute(self, xp, n, x):
        return gamma_functions.in_double(xp, gamma_functions.polygamma, n, x, like=x)

    def gradient_x(self, xp, g, n, x):
        return g * Polygamma().evaluate(n + 1, x)


_BY_SERIES: dict[int, Any] = {0: Digamma, 1: Trigamma}  # in a fraction of the powers of zeta

lgamma = function_of(LGamma, "lgamma")
digamma = function_of(Digamma, "digamma")


def polygamma(n: Operand, x: Operand) -> Variable:
    """Compute the n-th derivative of the digamma function for each element.

    Args:
        n: Integers, not negative, of any shape; an int will do.
        x: Floating, of a shape that broadcasts with that of `n`.

    Returns:
        The common shape, and the dtype of `x`; infinite at 0, -1, -2, ..., where `digamma` is NaN
        but at 0; NaN where n < 0.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.polygamma(1, np.array([1, 2], "d"))
    variable([1.64493407, 0.64493407])
    """
    x = as_variable(x)
    order: Any = n
    if is_whole(order) and not hasattr(order, "dtype"):
        if order in _BY_SERIES:
            return _BY_SERIES[order].call(x)
        order = x.backend.asarray(int(order), "int32", x.device)
    return Polygamma.call(order, x)
