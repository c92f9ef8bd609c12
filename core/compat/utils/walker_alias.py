"""Draws from a discrete distribution in constant time each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from core.arrays import backend
from core.arrays.backend import Device
from core.errors.scalars import is_whole


class WalkerAlias:
    """Sampler of the integers 0 to n-1 with given probabilities, by the alias method.

    There are as many shares as integers, all of one size. The first part of each belongs to its
    owner, the rest to one other integer, its alias. A draw picks a place in one of the shares. From
    the same seed of NumPy come the draws that Chainer makes.

    Args:
        probs: n weights, none negative; they need not add up to 1.

    Raises:
        ValueError: No weights, a negative or infinite one, or all zero.

    Source: A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with
    General Distributions", ACM TOMS 3 (1977).

    >>> WalkerAlias([0.0, 1.0, 0.0]).sample((2, 2))
    array([[1, 1],
           [1, 1]], dtype=int32)
    """

    def __init__(self, probs: Any) -> None:
        tables = _tables(_weights(probs))
        self._size = len(tables[0])
        self._place(tables, backend.current_device())

    def _place(self, tables: Any, device: Device) -> None:
        self._device = device
        names = ("float32", "int32", "int32")
        self._tables = [
            device.backend.asarray(table, name, device)
            for table, name in zip(tables, names, strict=True)
        ]

    @property
    def use_gpu(self) -> bool:
        """Whether draws are made on a GPU."""
        return self._device.backend.on_gpu

    def to_device(self, device: Any) -> Self:
        """Make draws on `device` from now on; returns itself."""
        self._place(map(backend.to_host, self._tables), backend.get_device(device))
        return self

    def to_cpu(self) -> Self:
        """Make draws as NumPy arrays from now on; returns itself."""
        return self.to_device(backend.host())

    def to_gpu(self) -> Self:
        """Make draws on the GPU from now on; returns itself."""
        return self.to_device(backend.gpu())

    def sample(self, shape: int | Sequence[int]) -> Any:
        """Draws in an int32 array of `shape`, where this sampler is."""
        given: Any = shape
        shape = (given.__index__(),) if is_whole(given) else tuple(given)
        device = backend.current_device()
        if not device.backend.records(self._device.backend):  # as where a step is captured
            device = self._device
        xp, random = device.xp, device.backend.random
        keep, owner, alias = self._tables
        count = (math.prod(shape),)
        place = random.uniform(count, "float64", 0.0, self._size, device=device)
        with self._device.backend.beside(keep):
            share = xp.astype(place, xp.int32)
            kept = xp.take(keep, share, axis=0) >= place - xp.astype(share, place.dtype)
            picked = xp.where(kept, xp.take(owner, share, axis=0), xp.take(alias, share, axis=0))
            return xp.reshape(picked, shape)

    sample_cpu = sample
    sample_gpu = sample

    def sample_xp(self, xp: Any, shape: int | Sequence[int]) -> Any:
        """`sample`, for callers who pass the namespace along; this sampler must be of it."""
        if xp is not self._device.xp:
            raise backend.BackendError(
                f"WalkerAlias.sample_xp: expected the namespace of {self._device}, where this "
                f"sampler is, got {getattr(xp, '__name__', xp)}. Move the sampler with to_device()."
            )
        return self.sample(shape)


def _weights(probs: Any) -> list[float]:
    given = backend.to_host(probs) if hasattr(probs, "dtype") else probs
    weights = [float(p) for p in given]
    if not weights or min(weights) < 0 or not 0 < sum(weights) < math.inf:
        raise ValueError(
            "WalkerAlias: expected weights that are not negative, not all zero and finite, "
            f"got {len(weights)} with sum {sum(weights)} and minimum {min(weights, default=None)}."
        )
    return weights


def _tables(weights: list[float]) -> tuple[list[float], list[int], list[int]]:
    """For each share, how much of it its owner keeps, who that is, and who has the rest.

    The lightest owns the first share, and so on; whoever has more than a share fills up the first
    ones that are not full. Parts are kept in single precision, as in Chainer: rounding decides
    whether somebody has exactly one share or more.
    """
    xp = backend.host().xp
    parts = xp.asarray(weights, dtype=xp.float32)
    sizes = [part * len(weights) for part in (parts / xp.sum(parts)).tolist()]
    owner = sorted(range(len(weights)), key=sizes.__getitem__)
    keep: list[float] = []
    alias: list[int] = []
    for i in owner:
        left = sizes[i]
        while left > 1 and len(alias) < len(keep):
            left -= 1 - keep[len(alias)]
            alias.append(i)
        keep.append(float(xp.float32(left)))
    full = len(alias)  # what rounding has left over is whole
    return keep[:full] + [1.0] * (len(keep) - full), owner, alias + owner[full:]
