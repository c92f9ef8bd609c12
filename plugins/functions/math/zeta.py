"""Hurwitz's zeta function."""

from __future__ import annotations

from math import factorial

from core import Domain, Elementwise, real
from plugins.functions.derived import function_of
from plugins.functions.math import gamma_functions
from plugins.functions.math.gamma_functions import BERNOULLI, DIRECT


class Zeta(Elementwise):
    """Compute Hurwitz's zeta function of each pair: the sum of (q + k)^-x over k = 0, 1, 2, ...

    Its derivative by q is -x zeta(x + 1, q); that by x is the derivative, term by term, of the sum
    and estimate that compute it.

    Args:
        x: Floating, of any shape, greater than 1.
        q: Of the dtype of `x` and a shape that broadcasts; a number will do.

    Returns:
        The common shape, and the dtype of `x`; infinite at x = 1 and q = 0, -1, -2, ...; NaN where
        x < 1, and between those q unless x is whole.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.zeta(np.array([2, 4], "d"), 1.0)
    variable([1.64493407, 1.08232323])
    """

    label = "zeta"
    wide = True
    domain = Domain(x=real(1.5, 5), q=real(0.5, 5))

    def compute(self, xp, x, q):
        return gamma_functions.in_double(xp, gamma_functions.zeta, x, q, like=x)

    def gradient_x(self, xp, g, x, q):
        slope = xp.zeros_like(x)
        for k in range(DIRECT):
            term = q + float(k)
            slope = slope - xp.log(term) * term ** (-x)
        end = q + float(DIRECT)
        log, power = xp.log(end), end ** (-x)
        above = 1.0 / (x - 1.0)
        slope = slope - end * power * above * (log + above) - log * power * 0.5
        product, rates = x * power / end, 1.0 / x
        for k, b in enumerate(BERNOULLI, 1):
            slope = slope + product * (rates - log) * (b / factorial(2 * k))
            one, other = x + float(2 * k - 1), x + float(2 * k)
            product, rates = product * one * other / (end * end), rates + 1.0 / one + 1.0 / other
        return g * slope

    def gradient_q(self, xp, g, x, q):
        return -(g * x) * Zeta().evaluate(x + 1.0, q)


zeta = function_of(Zeta, "zeta")
