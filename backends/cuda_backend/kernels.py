"""Faster forms of operations by CuPy's own functions."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def erf(f: Any, xp: Any, x: Any) -> Any:
    """The error function in one kernel."""
    return import_module("cupyx.scipy.special").erf(x)
