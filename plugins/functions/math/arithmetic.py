"""Elementwise arithmetic of one array or several: what the operators are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Domain, Elementwise, Variable, anything, numeric, real
from core.graph.graph_node import next_sequence
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

    @staticmethod
    def add_to(total: Variable, x: Variable) -> Variable:
        """Add to a sum that nobody else knows: in place, and x is one more input of its node."""
        f, source = total._source, x._source
        if type(f) is not Add or source is None or total._spec is not x._spec:
            return total + x
        if f._rules is not _OF_MANY:
            if f._rules is not Add._rules or f.needs_grad != 3:  # it broadcast, or has a constant
                return total + x
            f._rules, f._sources, f.needs_grad = _OF_MANY, list(f._sources), -1
        total._array += x._array
        f._sources.append(source)
        f.sequence = next_sequence()
        return total


def _to_each(f: Add, g: Any, needs_grad: int = -1) -> Sequence[Any]:
    """The gradients of a sum that `Add.add_to` has added to."""
    return [g if needs_grad >> i & 1 else None for i in range(len(f._sources))]


_OF_MANY = True, _to_each, _to_each


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
    """x^y, whose derivatives are y x^(y-1) and x^y log(x); at x = 0 the latter is taken as 0.

    So is the first at y = 0, for x^0 is 1 everywhere.
    """

    label = "_ ** _"
    inline = True
    with_scalar, from_scalar = PowerConstant, ConstantPower
    domain = Domain(x=numeric(0.3, 3), y=numeric(-2, 2))

    def compute(self, xp, x, y):
        return x**y

    def gradient_x(self, xp, g, x, y):
        return g * y * x ** xp.where((x == 0) & (y == 0), y, y - 1.0)

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
