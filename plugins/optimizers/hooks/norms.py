"""Sums of squares, exact enough for 16-bit gradients."""

from __future__ import annotations

from typing import Any

from core import backend


def squared_norm(array: Any) -> Any:
    """The sum of squares as an array without axes; float16 and bfloat16 count in float32."""
    home = backend.of(array)
    if home.dtype_name(array.dtype) in ("float16", "bfloat16"):
        array = home.asarray(array, home.dtype("float32"), home.device_of(array))
    return home.xp.sum(array * array)
