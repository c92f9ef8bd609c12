"""Logarithms."""

from __future__ import annotations

from math import log as _log

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of


class Log(Elementwise):
    """Compute the natural logarithm of each element.

    The derivative is 1 / x.

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; -inf for 0, NaN below.

    >>> import core.functions as F, numpy as np
    >>> F.log(np.array([1, 0.5], "f"))
    variable([ 0.       , -0.6931472], dtype=float32)
    """

    label = "log"
    inline = True
    domain = Domain(x=real(0.2, 4))

    def compute(self, xp, x):
        return xp.log(x)

    def gradient(self, xp, g, x):
        return g / x


class Log2(Elementwise):
    """Compute the logarithm to base 2 of each element.

    The derivative is 1 / (x log 2).

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; -inf for 0, NaN below.

    >>> import core.functions as F, numpy as np
    >>> F.log2(np.array([1, 8], "f"))
    variable([0., 3.], dtype=float32)
    """

    label = "log2"
    domain = Domain(x=real(0.2, 4))

    def compute(self, xp, x):
        return xp.log2(x)

    def gradient(self, xp, g, x):
        return g * (1 / _log(2)) / x


class Log10(Elementwise):
    """Compute the logarithm to base 10 of each element.

    The derivative is 1 / (x log 10).

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; -inf for 0, NaN below.

    >>> import core.functions as F, numpy as np
    >>> F.log10(np.array([1, 100], "f"))
    variable([0.       , 2.0000002], dtype=float32)
    """

    label = "log10"
    domain = Domain(x=real(0.2, 4))

    def compute(self, xp, x):
        return xp.log10(x)

    def gradient(self, xp, g, x):
        return g * (1 / _log(10)) / x


class Log1p(Elementwise):
    """Compute log(1 + x) of each element, precise also near 0.

    The derivative is 1 / (1 + x).

    Args:
        x: Floating, of any shape, greater than -1.

    Returns:
        The shape and dtype of `x`; -inf for -1, NaN below.

    >>> import core.functions as F, numpy as np
    >>> F.log1p(np.array([0, 1e-6], "f"))
    variable([0.000000e+00, 9.999995e-07], dtype=float32)
    """

    label = "log1p"
    domain = Domain(x=real(-0.7, 4))

    def compute(self, xp, x):
        return xp.log1p(x)

    def gradient(self, xp, g, x):
        return g / (x + 1)


log = function_of(Log, "log")
log2 = function_of(Log2, "log2")
log10 = function_of(Log10, "log10")
log1p = function_of(Log1p, "log1p")
