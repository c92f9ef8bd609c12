"""Names that NumPy had in Chainer's time, and has removed since."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

_NAMES: dict[str, Any] = {
    "Inf": np.inf,
    "NaN": np.nan,
    "PINF": np.inf,
    "NINF": -np.inf,
    "infty": np.inf,
    "alltrue": np.all,
    "sometrue": np.any,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "asscalar": lambda a: a.item(),
    "complex": builtins.complex,
    "complex_": np.complex128,
    "float": builtins.float,
    "float_": np.float64,
    "int": builtins.int,
    "object": builtins.object,
    "str": builtins.str,
    "string_": np.bytes_,
    "unicode_": np.str_,
}


def switch() -> None:
    """Give NumPy those of them that it has not."""
    for name, value in _NAMES.items():
        if name not in vars(np):
            setattr(np, name, value)
