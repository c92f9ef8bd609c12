"""Sums into places of a NumPy array."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.standard import is_basic


def scatter_add(a: np.ndarray[Any, Any], index: Any, values: Any) -> None:
    """`a[index] += values` in place, repeated places added to as often as they are named."""
    if is_basic(index):
        a[index] += values
    else:
        np.add.at(a, index, values)
