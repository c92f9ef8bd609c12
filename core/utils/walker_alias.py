"""Draws from a discrete distribution in constant time each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from core import backend
from core.device import Device


class WalkerAlias:
    """Sampler of the integers 0 to n-1 with given probabilities, by the alias method.

    Each integer owns an equal share of the unit interval and keeps part of it; the rest of its
    share belongs to one other integer, its alias. A draw picks a share and a place in it.

    Args:
        probs: n weights, none negative; they need not add up to 1.

    Raises:
        ValueError: No weights, a negative or infinite one, or all zero.

    Source: A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with
    General Distributions", ACM TOMS 3 (1977); tables built as in M. D. Vose, IEEE TSE 17
    (1991).

    >>> WalkerAlias([0.0, 1.0, 0.0]).sample((2, 2))
    array([[1, 1],
           [1, 1]], dtype=int32)
    """

    def __init__(self, probs: Any) -> None:
        keep, alias = _tables(_weights(probs))
        self._size = len(keep)
        self._place(keep, alias, backend.current_device())

    def _place(self, keep: Any, alias: Any, device: Device) -> None:
        self._device = device
        self._keep = device.backend.asarray(keep, "float32", device)
        self._alias = device.backend.asarray(alias, "int32", device)

    @property
    def use_gpu(self) -> bool:
        """Whether draws are made on a GPU."""
        return self._device.backend.name == "cuda"

    def to_device(self, device: Any) -> Self:
        """Make draws on `device` from now on; returns itself."""
        to = backend.get_device(device)
        self._place(backend.to_host(self._keep), backend.to_host(self._alias), to)
        return self

    def to_cpu(self) -> Self:
        """Make draws as NumPy arrays from now on; returns itself."""
        return self.to_device("numpy")

    def to_gpu(self) -> Self:
        """Make draws on the GPU from now on; returns itself."""
        return self.to_device("cuda")

    def sample(self, shape: int | Sequence[int]) -> Any:
        """Draws in an int32 array of `shape`, where this sampler is."""
        shape = (shape.__index__(),) if hasattr(shape, "__index__") else tuple(shape)
        xp, random = self._device.xp, self._device.backend.random
        count = math.prod(shape)
        share = random.integers(0, self._size, (count,), device=self._device)
        place = random.uniform((count,), "float32", device=self._device)
        kept = place < xp.take(self._keep, share, axis=0)
        alias = xp.take(self._alias, share, axis=0)
        return xp.reshape(xp.where(kept, xp.astype(share, xp.int32), alias), shape)

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


def _tables(weights: list[float]) -> tuple[list[float], list[int]]:
    """For each share, how much of it its owner keeps, and who has the rest."""
    n, total = len(weights), sum(weights)
    keep = [w / total * n for w in weights]
    alias = list(range(n))
    poor = [i for i, k in enumerate(keep) if k < 1]
    rich = [i for i, k in enumerate(keep) if k >= 1]
    while poor and rich:
        i, j = poor.pop(), rich[-1]
        alias[i] = j
        keep[j] -= 1 - keep[i]
        if keep[j] < 1:
            poor.append(rich.pop())
    for i in poor + rich:  # what rounding has left over is whole
        keep[i] = 1.0
    return keep, alias
