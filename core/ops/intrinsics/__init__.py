"""The operations behind the operators of arithmetic, and the sum that undoes broadcasting.

Plugins re-export them (`F.add`, ...), so there is one operation of each meaning; those behind
items, matrix products and methods stand with their functions, and are found here by name. Each
proves itself like any plugin's: see tests/test_ops.py.
"""

from typing import Any

from core.ops.intrinsics import operators
from core.ops.intrinsics.arithmetic import (
    Add,
    Divide,
    Multiply,
    Negative,
    Power,
    Subtract,
)
from core.ops.intrinsics.broadcasting import SumTo, unbroadcast


def __getattr__(name: str) -> Any:
    from core import functions

    return getattr(functions, name)
