"""Changing dtypes."""

from __future__ import annotations

from typing import Any

from core.ops.function_node import FunctionNode
from core.ops.types.domain import Domain, anything, choice


class Cast(FunctionNode):
    """x in another dtype; the gradient is cast back."""

    typ: Any
    domain = Domain("(...)->(...)", x=anything(), settings={"typ": choice("float32", "float64")})

    @property
    def type(self) -> Any:
        """The dtype, by the name that it had as an attribute."""
        return self.typ

    def compute(self, xp, x):
        return xp.astype(x, self.backend.dtype(self.typ))

    def gradient(self, xp, g):
        return xp.astype(g, self.input_dtype(0))
