"""Padding: one array, into which the old one is put, and its border beside it."""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np


def constant_pad(f: Any, xp: Any, x: Any) -> Any:
    """The formula's, where borders have one value."""
    widths, values = f.pad_width, f.constant_values
    border = values[0][0] if values else 0.0
    one = all([v is border or _alike(v, border) for pair in values for v in pair])
    if not one or not x.dtype.isnative:
        return NotImplemented
    padded = np.empty([b + n + a for (b, a), n in zip(widths, x.shape, strict=True)], x.dtype)
    padded.fill(border)
    padded[tuple([slice(b, b + n) for (b, _), n in zip(widths, x.shape, strict=True)])] = x
    return padded


def continued(f: Any, xp: Any, x: Any) -> Any:
    """The formula's, which joins what it has so far with the border of each axis in turn."""
    if not x.dtype.isnative:
        return NotImplemented
    widths = [*zip(f.pad_width, x.shape, strict=True)]
    padded = np.empty([b + n + a for (b, a), n in widths], x.dtype)
    inside: list[Any] = [slice(b, b + n) for (b, _), n in widths]
    padded[tuple(inside)] = x
    for axis, ((before, after), n) in enumerate(widths):
        if before == after == 0:
            continue
        whole = (slice(None),) * axis
        known = padded[tuple(inside)]
        inside[axis] = slice(None)
        bordered = padded[tuple(inside)]
        for stop, runs in zip((0, before + n), f.runs(x.shape, axis), strict=True):
            for run in runs:
                start, stop = stop, stop + run.length
                part = known[run.place(axis)]
                turned = part[(*whole, slice(None, None, -1))] if run.step < 0 else part
                bordered[(*whole, slice(start, stop))] = turned
    return padded


def _alike(a: float, b: float) -> bool:
    """Whether numbers are equal, zeros of one sign."""
    return a == b and copysign(1.0, a) == copysign(1.0, b)
