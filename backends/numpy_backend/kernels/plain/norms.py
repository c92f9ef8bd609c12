"""Sums of squares of many small arrays at once."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np


def squared_norms(f: Any, xp: Any, *arrays: Any) -> Any:
    """The sum of squares of each, in float64, by no order but that of its own elements."""
    sizes = [x.size for x in arrays]
    if 0 in sizes or any([x.dtype.kind != "f" for x in arrays]):
        return NotImplemented
    flat = np.concatenate([x.ravel() for x in arrays], dtype="float64", casting="same_kind")
    flat *= flat
    return np.add.reduceat(flat, [0, *accumulate(sizes[:-1])])
