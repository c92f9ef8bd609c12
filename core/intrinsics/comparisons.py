"""Elementwise comparisons: truth values, without gradient."""

from __future__ import annotations

from core.domain import Domain, anything
from core.function_node import Elementwise


class _Comparison(Elementwise):
    """An elementwise comparison: truth values, without gradient."""

    keeps_dtype = False
    domain = Domain(
        "(),()->()",
        x=anything(),
        y=anything(),
        leave_out={"gradient": "integer-valued", "double_gradient": "integer-valued"},
    )


class Equal(_Comparison):
    """x == y."""

    def compute(self, xp, x, y):
        return x == y


class NotEqual(_Comparison):
    """x != y."""

    def compute(self, xp, x, y):
        return x != y


class Less(_Comparison):
    """x < y."""

    def compute(self, xp, x, y):
        return x < y


class LessEqual(_Comparison):
    """x <= y."""

    def compute(self, xp, x, y):
        return x <= y


class Greater(_Comparison):
    """x > y."""

    def compute(self, xp, x, y):
        return x > y


class GreaterEqual(_Comparison):
    """x >= y."""

    def compute(self, xp, x, y):
        return x >= y
