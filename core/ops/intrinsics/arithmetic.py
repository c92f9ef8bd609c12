"""Elementwise arithmetic of one array or several."""

from __future__ import annotations

from core.ops.elementwise import Elementwise
from core.ops.intrinsics.constants import (
    AddConstant,
    DivideConstant,
    MultiplyConstant,
    PowerConstant,
    SubtractConstant,
)
from core.ops.types.domain import Domain, anything, boolean, numeric, ordered, real


class Add(Elementwise):
    """x + y."""

    label = "_ + _"
    inline = True
    with_scalar = AddConstant
    domain = Domain(x=anything(), y=anything())

    def compute(self, xp, x, y):
        return x + y

    def gradient_x(self, xp, g):
        return g

    def gradient_y(self, xp, g):
        return g


class Subtract(Elementwise):
    """x - y."""

    label = "_ - _"
    inline = True
    with_scalar = SubtractConstant
    domain = Domain(x=anything(2, 4), y=anything(0, 2))

    def compute(self, xp, x, y):
        return x - y

    def gradient_x(self, xp, g):
        return g

    def gradient_y(self, xp, g):
        return -g


class Multiply(Elementwise):
    """x y."""

    label = "_ * _"
    inline = True
    with_scalar = MultiplyConstant
    domain = Domain(x=anything(), y=anything())

    def compute(self, xp, x, y):
        return x * y

    def gradient_x(self, xp, g, y):
        return g * y

    def gradient_y(self, xp, g, x):
        return g * x


class Divide(Elementwise):
    """x / y, whose derivatives are 1 / y and -x / y^2."""

    label = "_ / _"
    inline = True
    with_scalar = DivideConstant
    domain = Domain(x=real(-3, 3), y=real(0.5, 3))

    def compute(self, xp, x, y):
        return x / y

    def gradient_x(self, xp, g, y):
        return g / y

    def gradient_y(self, xp, g, y, out):
        return -(g * out) / y


class FloorDivide(Elementwise):
    """The greatest whole number not above x / y; it has no derivative worth the name."""

    label = "_ // _"
    inline = True
    domain = Domain(x=ordered(0, 9), y=ordered(1, 3), leave_out={"gradient": "integer-valued"})

    def compute(self, xp, x, y):
        return x // y


class Power(Elementwise):
    """x^y, whose derivatives are y x^(y-1) and x^y log(x); at x = 0 the latter is taken as 0."""

    label = "_ ** _"
    inline = True
    with_scalar = PowerConstant
    domain = Domain(x=numeric(0.3, 3), y=numeric(-2, 2))

    def compute(self, xp, x, y):
        return x**y

    def gradient_x(self, xp, g, x, y):
        return g * y * x ** (y - 1.0)

    def gradient_y(self, xp, g, x, out):
        logarithm = xp.log(xp.where(x == 0, xp.ones_like(x), x))
        return g * out * logarithm


class Negative(Elementwise):
    """-x."""

    label = "__neg__"
    inline = True
    domain = Domain(x=anything(-3, 3))

    def compute(self, xp, x):
        return -x

    def gradient(self, xp, g):
        return -g


class Sign(Elementwise):
    """-1, 0 or 1 by the sign of x; its derivative is 0 wherever it has one."""

    label = "sign"
    inline = True
    domain = Domain(
        x=numeric(-3, 3),
        kinks=(0,),
        leave_out={"gradient": "integer-valued"},
    )

    def compute(self, xp, x):
        return xp.sign(x)

    def gradient(self, xp, g):
        return g * 0.0


class Absolute(Elementwise):
    """|x|, whose derivative is the sign of x, taken as 0 at 0."""

    label = "|_|"
    inline = True
    domain = Domain(x=numeric(-3, 3), kinks=(0,))

    def compute(self, xp, x):
        return xp.abs(x)

    def gradient(self, xp, g, x):
        return g * xp.sign(x)


class Log(Elementwise):
    """The natural logarithm, whose derivative is 1 / x."""

    label = "log"
    inline = True
    domain = Domain(x=real(0.2, 4))

    def compute(self, xp, x):
        return xp.log(x)

    def gradient(self, xp, g, x):
        return g / x


class Where(Elementwise):
    """x where the condition holds, else y."""

    inline = True
    domain = Domain(condition=boolean(), x=anything(), y=anything())

    def compute(self, xp, condition, x, y):
        return xp.where(condition, x, y)

    def gradient_x(self, xp, g, condition):
        return xp.where(condition, g, xp.zeros_like(g))

    def gradient_y(self, xp, g, condition):
        return xp.where(condition, xp.zeros_like(g), g)
