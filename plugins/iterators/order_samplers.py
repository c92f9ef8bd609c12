"""The order in which an iterator goes through a dataset, decided anew for each pass."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

from core.arrays import backend
from core.errors import CheckpointError
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer, Deserializer


class OrderSampler(NeedsInit, ABC):
    """A function from the order of one pass to that of the next; any such callable will do.

    One that has a state of its own says so by a method `serialize(serializer)`: the iterator saves
    and loads it.
    """

    @abstractmethod
    def __call__(self, current_order: Any, current_position: int) -> Any:
        """An array of the indices for the next pass, or None for the dataset's own order.

        `current_position` says where in the pass the batch began that completes it; 0 for the first
        order, which is asked for with the dataset's own.
        """


class RandomOrderSampler(OrderSampler):
    """Base of samplers that draw their orders.

    They draw from `random_state` (a `numpy.random.RandomState` or Generator), or, without one, from
    the random numbers of the whole framework: `core.seed` or `numpy.random.seed` fixes them.
    Snapshots contain the state of either.
    """

    def __init__(self, random_state: Any = None) -> None:
        if random_state is not None and not hasattr(random_state, "permutation"):
            raise TypeError(
                f"{type(self).__name__}: expected random_state to be a numpy.random.RandomState or "
                f"Generator, got {random_state!r:.60}. Of a seed, numpy.random.default_rng(seed) "
                "makes one."
            )
        self._random = random_state

    def permutation(self, n: int) -> Any:
        """The integers from 0 to n-1 in random order."""
        source = backend.get("numpy").random if self._random is None else self._random
        return source.permutation(n)

    def uniform(self, n: int) -> Any:
        """As many float64 from [0, 1)."""
        if self._random is None:
            return backend.get("numpy").random.uniform((n,), "float64")
        return self._random.uniform(size=n)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the state of the `random_state`, if there is one."""
        if self._random is None:
            return
        state = json.loads(serializer("random_state", json.dumps(self._state(), default=_listed)))
        if not isinstance(serializer, Deserializer):
            return
        try:
            self._set_state(state)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{type(self).__name__}: the saved state is not one of this {type(self._random)}: "
                f"{error}. Resume with a random_state of the kind that was saved."
            ) from error

    def _state(self) -> Any:
        if hasattr(self._random, "bit_generator"):
            return self._random.bit_generator.state
        return self._random.get_state(legacy=False)

    def _set_state(self, state: Any) -> None:
        if hasattr(self._random, "bit_generator"):
            self._random.bit_generator.state = state
        else:
            self._random.set_state(state)


class ShuffleOrderSampler(RandomOrderSampler):
    """A random permutation for each pass.

    It is drawn from `random_state` (a `numpy.random.RandomState` or Generator), or, without one,
    from the random numbers of the whole framework: `core.seed` or `numpy.random.seed` fixes them.
    Snapshots contain the state of either.
    """

    def __call__(self, current_order: Any, current_position: int) -> Any:
        """A permutation as long as the current order."""
        return self.permutation(len(current_order))


def _listed(array: Any) -> Any:
    return array.tolist()
