"""Elementwise comparisons, and the division that gives whole numbers: without gradient."""

from __future__ import annotations

from core import Domain, Elementwise, anything, numeric
from core.ops.types.values import ordered


class _Comparison(Elementwise):
    """An elementwise comparison: truth values, without gradient."""

    keeps_dtype = False
    domain = Domain(x=anything(), y=anything(), leave_out={"gradient": "integer-valued"})


class Equal(_Comparison):
    """x == y."""

    def compute(self, xp, x, y):
        return x == y


class NotEqual(_Comparison):
    """x != y."""

    def compute(self, xp, x, y):
        return x != y


class _Ordering(_Comparison):
    """A comparison that complex numbers do not have."""

    domain = Domain(x=ordered(), y=ordered(), leave_out={"gradient": "integer-valued"})


class Less(_Ordering):
    """x < y."""

    def compute(self, xp, x, y):
        return x < y


class LessEqual(_Ordering):
    """x <= y."""

    def compute(self, xp, x, y):
        return x <= y


class Greater(_Ordering):
    """x > y."""

    def compute(self, xp, x, y):
        return x > y


class GreaterEqual(_Ordering):
    """x >= y."""

    def compute(self, xp, x, y):
        return x >= y


class FloorDivide(Elementwise):
    """The greatest whole number not above x / y; it has no derivative worth the name."""

    label = "_ // _"
    inline = True
    domain = Domain(x=numeric(0, 9), y=numeric(1, 3), leave_out={"gradient": "integer-valued"})

    def compute(self, xp, x, y):
        return x // y
