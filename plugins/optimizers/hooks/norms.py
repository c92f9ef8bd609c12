"""Sums of products, exact enough for 16-bit gradients."""

from __future__ import annotations

from typing import Any

from core import FunctionNode
from core.arrays import backend
from core.arrays.array_backend import unwrapped


class SquaredNorm(FunctionNode):
    """The sum of squares of all elements."""

    def compute(self, xp: Any, x: Any) -> Any:
        """Float16 and bfloat16 count in float32."""
        return inner(x, x)


def squared_norm(array: Any) -> Any:
    """The sum of squares as an array without axes; float16 and bfloat16 count in float32."""
    return SquaredNorm().evaluate(unwrapped(array))


def inner(array: Any, other: Any) -> Any:
    """The sum of products of two arrays alike; float16 and bfloat16 count in float32."""
    home = backend.of(array)
    if home.dtype_name(array.dtype) in ("float16", "bfloat16"):
        wide, device = home.dtype("float32"), home.device_of(array)
        array, other = home.asarray(array, wide, device), home.asarray(other, wide, device)
    return home.xp.sum(array * other)
