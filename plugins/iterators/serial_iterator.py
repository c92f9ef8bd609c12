"""Batches made one after the other, in the thread that asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.dataset import Iterator
from core.serializer import AbstractSerializer
from plugins.iterators.order_samplers import ShuffleOrderSampler
from plugins.iterators.position import Position, Sampler, advance, checked, serialize


class SerialIterator(Iterator):
    """Hands out a dataset in batches of `batch_size` examples, for ever or, without `repeat`, once.

    With `shuffle` (the default where no `order_sampler` is given) each pass has an order of its
    own. `order_sampler(current_order, position)` gives the order of the next pass instead.
    A batch at the end of a pass is filled up from the next one, or is shorter without `repeat`.
    Serialization is exact: a resumed iterator hands out what the saved one would have.
    Raises ValueError for an empty dataset, a batch size below 1, `shuffle` with an `order_sampler`.

    >>> iterator = SerialIterator([1, 2, 3], 2, shuffle=False)
    >>> iterator.next(), iterator.next(), iterator.epoch, iterator.is_new_epoch
    ([1, 2], [3, 1], 1, True)
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: Sampler | None = None,
    ) -> None:
        if len(dataset) == 0:
            raise ValueError("SerialIterator: expected at least one example, got an empty dataset.")
        if batch_size < 1:
            raise ValueError(
                f"SerialIterator: expected a batch size of 1 or more, got {batch_size}."
            )
        if shuffle is not None and order_sampler is not None:
            raise ValueError(
                "SerialIterator: expected shuffle or order_sampler, got both; the sampler decides."
            )
        if order_sampler is None and shuffle is not False:
            order_sampler = ShuffleOrderSampler()
        self.dataset = dataset
        self.batch_size = batch_size
        self._repeat = repeat
        self.order_sampler = order_sampler
        self.reset()

    def reset(self) -> None:
        """Start again at the beginning, with a new order where there is a sampler."""
        order = None
        if self.order_sampler is not None:
            order = checked(self.order_sampler(np.arange(len(self.dataset)), 0))
        self._position = Position(0, 0, False, order)

    def __next__(self) -> list[Any]:
        """The next batch: a list of examples."""
        step = advance(
            self._position, len(self.dataset), self.batch_size, self._repeat, self.order_sampler
        )
        if step is None:
            raise StopIteration
        position, indices = step
        batch = [self.dataset[index] for index in indices]
        self._position = position  # after the dataset, which may raise: a batch is never skipped
        return batch

    next = __next__

    @property
    def repeat(self) -> bool:
        """Whether the dataset is handed out for ever."""
        return self._repeat

    @property
    def epoch(self) -> int:
        """How many passes have been completed."""
        return self._position.epoch

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch completed a pass."""
        return self._position.is_new_epoch

    @property
    def current_position(self) -> int:
        """How many examples of the running pass have been handed out."""
        return self._position.used

    @property
    def epoch_detail(self) -> float:
        """How many passes have been completed, with the fraction of the running one."""
        return self._position.epoch_detail(len(self.dataset))

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last batch; None before the first."""
        before = self._position.previous_epoch_detail
        return None if before < 0 else before

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the position, and the order of the running pass."""
        self._position = serialize(self._position, len(self.dataset), serializer)
