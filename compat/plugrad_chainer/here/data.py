"""Names of `chainer.dataset` and other modules about data that plugrad has no need of."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from core import dataset

available = find_spec("PIL") is not None
"""Whether images can be read."""


class Conveyor:
    """Hands arrays to a device one after the other: `put` takes one, `get` gives the oldest."""

    def __init__(self, device: Any = None, stream: Any = None) -> None:
        self.device = device
        self._waiting: list[Any] = []

    def put(self, array: Any) -> None:
        """Send an array to the device."""
        self._waiting.append(dataset.to_device(self.device, array))

    def get(self) -> Any:
        """The oldest of those that were sent."""
        return self._waiting.pop(0)


def argsort_list_descent(lst: Any) -> Any:
    """The indexes that sort sequences by length, the longest first."""
    return np.argsort([-len(x) for x in lst]).astype(np.int32)


def permutate_list(lst: Any, indices: Any, inv: bool) -> list[Any]:
    """A list in another order, or, with `inv`, back in the order from which it came."""
    return [lst[i] for i in (np.argsort(indices) if inv else indices)]
