"""Elementwise comparisons: truth values, without gradient."""

from __future__ import annotations

from core.ops.elementwise import Elementwise
from core.ops.types.domain import Domain, anything, ordered


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
