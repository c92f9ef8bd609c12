"""Padding: an array that is filled, into which the old one is put."""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np


def constant_pad(f: Any, xp: Any, x: Any) -> Any:
    """The formula's, where borders have one value."""
    used = [
        (value, copysign(1.0, value))
        for widths, values in zip(f.pad_width, f.constant_values, strict=True)
        for width, value in zip(widths, values, strict=True)
        if width
    ]
    if len(set(used)) != 1 or not x.dtype.isnative:
        return NotImplemented
    widths = list(zip(f.pad_width, x.shape, strict=True))
    padded = np.full([before + n + after for (before, after), n in widths], used[0][0], x.dtype)
    padded[tuple([slice(before, before + n) for (before, _), n in widths])] = x
    return padded
