"""The order in which an iterator goes through a dataset, decided anew for each pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from core import backend


class OrderSampler(ABC):
    """A function from the order of one pass to that of the next; any such callable will do."""

    @abstractmethod
    def __call__(self, current_order: Any, current_position: int) -> Any:
        """An array of the indices for the next pass, or None for the dataset's own order.

        `current_position` says where in the pass the batch began that completes it; 0 for the first
        order, which is asked for with the dataset's own.
        """


class ShuffleOrderSampler(OrderSampler):
    """A random permutation for each pass.

    It is drawn from `random_state` (a `numpy.random.RandomState` or Generator), or, without one,
    from the random numbers of the whole framework: `core.seed` or `numpy.random.seed` fixes them,
    and snapshots contain their state, which a `random_state` of one's own is not part of.
    """

    def __init__(self, random_state: Any = None) -> None:
        self._random = random_state

    def __call__(self, current_order: Any, current_position: int) -> Any:
        """A permutation as long as the current order."""
        source = backend.get("numpy").random if self._random is None else self._random
        return source.permutation(len(current_order))
