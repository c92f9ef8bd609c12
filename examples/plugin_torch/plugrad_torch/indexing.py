"""Indexes that PyTorch has not: negative steps, before which axes are turned; small numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

_VIEWING = (int, slice, type(None), type(...))
_KNOWN = (torch.bool, torch.int32, torch.int64)


def goes_back(index: Any) -> bool:
    """Whether a slice of the index has a negative step."""
    return any(map(_is_back, index if isinstance(index, tuple) else (index,)))


def names_once(parts: Any) -> bool:
    """Whether an index has numbers and slices alone, that go on: what it gives is a view."""
    return not goes_back(parts) and all([type(part) in _VIEWING for part in parts])


def of_numbers(index: Any) -> Any:
    """The index, its arrays of whole numbers in 64 bits: PyTorch takes uint8 for truth values."""
    if isinstance(index, tuple):
        return tuple(map(of_numbers, index))
    if isinstance(index, np.ndarray) and index.dtype.kind in "iu":
        return torch.from_numpy(index.astype("int64"))
    return index.long() if isinstance(index, Tensor) and index.dtype not in _KNOWN else index


def part_of(x: Tensor, index: Any) -> Tensor:
    """x[index]; a copy where a step is negative."""
    index = of_numbers(index)
    if not goes_back(index):
        return x[index]
    turned, index = _turned(x.shape, index)
    return torch.flip(x, turned)[index]


def places_of(x: Tensor, index: Any) -> tuple[Tensor, ...]:
    """For each axis, the places of the elements that x[index] has, of which x has one at least."""
    flat = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    return torch.unravel_index(part_of(flat, index), x.shape)


def _turned(shape: Any, index: Any) -> tuple[list[int], tuple[Any, ...]]:
    """The axes to turn, and the index of what they are then."""
    parts = index if isinstance(index, tuple) else (index,)
    named = sum([_axes(part) for part in parts if part is not ...])
    axis, found, axes = 0, [], []
    for part in parts:
        if _is_back(part):
            n = shape[axis]
            places = range(n)[part]
            axes.append(axis)
            part = slice(n - 1 - places[0], n - places[-1], -places.step) if places else slice(0)
        found.append(part)
        axis += len(shape) - named if part is ... else _axes(part)
    return axes, tuple(found)


def _axes(part: Any) -> int:
    """How many axes a part of an index is for: a mask has as many as it has itself."""
    if part is None:
        return 0
    mask = getattr(part, "dtype", None) in (torch.bool, bool)
    return part.ndim if mask else 1


def _is_back(part: Any) -> bool:
    return isinstance(part, slice) and part.step is not None and part.step < 0
