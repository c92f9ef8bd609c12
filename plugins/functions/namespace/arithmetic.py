"""Elementwise functions that take integers as well, or that no family of functions has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Domain, Elementwise, Variable, as_variable, real
from core.errors import InvalidType
from core.typing import Array
from plugins.functions.array.cast import arrays_in
from plugins.functions.math.clip import Clip
from plugins.functions.math.maximum import Maximum, Minimum
from plugins.functions.math.root import Square
from plugins.functions.math.rounding import Ceil, Fix, Floor
from plugins.functions.math.trigonometric import Arctan2
from plugins.functions.namespace.plain import without_gradient
from plugins.functions.namespace.promotion import is_floating, is_integral, promoting


class Copysign(Elementwise):
    """The size of x1 with the sign of x2; -1 where the sign of x1 is turned is its derivative."""

    saved = ("turned",)
    domain = Domain(x1=real(-3, 3, kinks=(0,)), x2=real(-3, 3, kinks=(0,)))

    def compute(self, xp, x1, x2):
        self.turned = xp.signbit(x1) != xp.signbit(x2)
        return xp.copysign(x1, x2)

    def gradient_x1(self, xp, g, turned):
        return xp.where(turned, -g, g)


class Hypot(Elementwise):
    """The root r of x1^2 + x2^2; the derivatives x1 / r and x2 / r are taken as 0 where r is 0."""

    domain = Domain(x1=real(0.2, 3), x2=real(-3, -0.2))

    def compute(self, xp, x1, x2):
        return xp.hypot(x1, x2)

    def gradient_x1(self, xp, g, x1, out):
        return g * (x1 / xp.where(out == 0, 1.0, out))

    def gradient_x2(self, xp, g, x2, out):
        return g * (x2 / xp.where(out == 0, 1.0, out))


class Logaddexp(Elementwise):
    """log(exp(x1) + exp(x2)) without overflow, whose derivatives are sigmoids of the difference."""

    wide = True
    domain = Domain(x1=real(-20, 20), x2=real(-20, 20))

    def compute(self, xp, x1, x2):
        return xp.logaddexp(x1, x2)

    def gradient_x1(self, xp, g, x1, x2):
        return g * self._share(xp, x1 - x2)

    def gradient_x2(self, xp, g, x1, x2):
        return g * self._share(xp, x2 - x1)

    def _share(self, xp: Any, d: Any) -> Any:
        """1 / (1 + exp(-d)), with all digits far below 0, and of formulas that are smooth at 0."""
        lower = d < 0
        below, above = xp.exp(xp.where(lower, d, 0.0)), xp.exp(xp.where(lower, 0.0, -d))
        return xp.where(lower, below / (below + 1.0), 1.0 / (above + 1.0))


class Remainder(Elementwise):
    """x1 - n x2 with n the greatest whole number not above x1 / x2; the derivatives are 1, -n."""

    domain = Domain(x1=real(-6, 6), x2=real(1, 2))

    def compute(self, xp, x1, x2):
        return xp.remainder(x1, x2)

    def gradient_x1(self, xp, g):
        return g

    def gradient_x2(self, xp, g, x1, x2):
        return -g * xp.floor(x1 / x2)


def _numeric(name: str, operation: Any, integral: Any) -> Callable[[Any], Variable]:
    """The operation of one operand, or `integral(x)` of integers."""

    def function(x: Any, /) -> Variable:
        try:
            return operation.call(x)
        except InvalidType:
            if not is_integral(x):
                raise
        return integral(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array standard's `{name}`, differentiable on floating arrays."
    return function


ceil = _numeric("ceil", Ceil, as_variable)
floor = _numeric("floor", Floor, as_variable)
square = _numeric("square", Square, lambda x: as_variable(x) * x)
trunc = _numeric("trunc", Fix, as_variable)
atan2 = promoting("atan2", Arctan2)
copysign = promoting("copysign", Copysign)
hypot = promoting("hypot", Hypot)
logaddexp = promoting("logaddexp", Logaddexp)
maximum = promoting("maximum", Maximum, without_gradient)
minimum = promoting("minimum", Minimum, without_gradient)
remainder = promoting("remainder", Remainder, without_gradient)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Variable:
    """The elements kept between bounds: numbers, arrays that broadcast, or None.

    >>> import numpy as np
    >>> clip(np.array([-9.0, 9.0]), 0, np.array([1.0, 2.0]))
    variable([0., 2.])
    """
    if is_floating(x) and not arrays_in((min, max)):
        return Clip.call(x, min, max)
    x = as_variable(x)
    if min is not None:
        x = maximum(x, min)
    return x if max is None else minimum(x, max)


def reciprocal(x: Array, /) -> Variable:
    """1 / x.

    >>> import numpy as np
    >>> reciprocal(np.array([2.0]))
    variable([0.5])
    """
    return 1.0 / as_variable(x)
