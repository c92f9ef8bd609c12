"""Orders in which some examples come more often than others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.errors import InvalidSetting
from core.errors.kinds import checked
from plugins.iterators.order_samplers import RandomOrderSampler
from plugins.iterators.per_example import check_length, per_example


class WeightedOrderSampler(RandomOrderSampler):
    r"""Passes of examples that are drawn in proportion to weights, as for classes of unequal size.

    Each draw gives the i-th example with probability :math:`w_i / \sum_j w_j`; without
    `replacement` the sum is over those that the pass has not had yet, and none comes twice. A pass,
    which is an epoch of the iterator, has `size` draws.

    Args:
        weights: A number for each example of the dataset, 0 or more; those with 0 never come.
        size: How many draws are a pass; by default as many as there are examples, without
            `replacement` as there are weights above 0.
        replacement: Whether an example may come several times in a pass.
        random_state: A `numpy.random.RandomState` or Generator; by default the random numbers of
            the whole framework. Snapshots contain the state of either.

    Raises InvalidSetting for weights that are negative, infinite, NaN or all 0, and for a `size`
    that is less than 1 or more than there is to be drawn; ValueError, when an iterator takes it,
    for a dataset of another length.

    Source: without replacement, Efraimidis and Spirakis, Information Processing Letters 97 (2006).

    >>> import numpy as np
    >>> from core.iterators import SerialIterator, WeightedOrderSampler
    >>> labels = np.array([0, 0, 0, 1])
    >>> sampler = WeightedOrderSampler(1 / np.bincount(labels)[labels], 1000)
    >>> batch = SerialIterator(labels, 1000, order_sampler=sampler).next()
    >>> 400 < sum(batch) < 600
    np.True_
    """

    @checked
    def __init__(
        self,
        weights: Any,
        size: int | None = None,
        replacement: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(random_state)
        found = per_example("WeightedOrderSampler", "weights", weights, "biuf").astype(np.float64)
        total = math.fsum(found) if np.isfinite(found).all() and (found >= 0).all() else 0.0
        if not 0 < total < math.inf:
            raise InvalidSetting(
                "WeightedOrderSampler: expected weights that are finite and not negative, with a "
                f"sum above 0, got {weights!r:.60}."
            )
        most = math.inf if replacement else int(np.count_nonzero(found))
        size = (len(found) if replacement else int(most)) if size is None else size
        if not 1 <= size <= most:
            raise InvalidSetting(
                f"WeightedOrderSampler: expected a size from 1 to {most}, the weights above 0, got "
                f"{size}. With replacement=True there may be more."
                if size >= 1
                else f"WeightedOrderSampler: expected a size of 1 or more, got {size}."
            )
        self._weights = found / found.max()
        self._size = size
        self._replacement = replacement
        self._fits = False

    def __call__(self, current_order: Any, current_position: int) -> Any:
        """As many indices as a pass has draws."""
        if not self._fits:
            check_length("WeightedOrderSampler", "weights", len(self._weights), current_order)
            self._fits = True
        return self._repeating() if self._replacement else self._each_once()

    def _repeating(self) -> Any:
        reached = np.cumsum(self._weights)
        found = np.searchsorted(reached, self.uniform(self._size) * reached[-1], side="right")
        return np.minimum(found, np.flatnonzero(self._weights)[-1])  # of a product rounded up

    def _each_once(self) -> Any:
        """The first to arrive, if each comes at an exponential time by its weight."""
        candidates = np.flatnonzero(self._weights)
        arrival = -np.log1p(-self.uniform(len(candidates))) / self._weights[candidates]
        return candidates[np.argsort(arrival, kind="stable")[: self._size]]
