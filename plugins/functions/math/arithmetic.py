"""Elementwise arithmetic of one array or several: what the operators are."""

from __future__ import annotations

from core import Domain, Elementwise, anything, numeric, real
from plugins.functions.math.with_number import (
    AddConstant,
    ConstantPower,
    DivideConstant,
    DivideFromConstant,
    MultiplyConstant,
    PowerConstant,
    SubtractConstant,
    SubtractFromConstant,
)


class Add(Elementwise):
    """x + y."""

    label = "_ + _"
    inline = True
    with_scalar, from_scalar = AddConstant, AddConstant
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
    with_scalar, from_scalar = SubtractConstant, SubtractFromConstant
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
    with_scalar, from_scalar = MultiplyConstant, MultiplyConstant
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
    with_scalar, from_scalar = DivideConstant, DivideFromConstant
    domain = Domain(x=real(-3, 3), y=real(0.5, 3))

    def compute(self, xp, x, y):
        return x / y

    def gradient_x(self, xp, g, y):
        return g / y

    def gradient_y(self, xp, g, y, out):
        return -(g * out) / y


class Power(Elementwise):
    """x^y, whose derivatives are y x^(y-1) and x^y log(x); at x = 0 the latter is taken as 0."""

    label = "_ ** _"
    inline = True
    with_scalar, from_scalar = PowerConstant, ConstantPower
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
