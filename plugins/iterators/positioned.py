"""What all iterators over a dataset share: their settings, and where they say they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.dataset import Iterator
from core.dataset.indexing import by_position
from core.errors.kinds import checked
from core.errors.place import warn
from core.errors.set_by_init import set_by_init
from core.link.serializer import AbstractSerializer
from plugins.iterators.order_samplers import ShuffleOrderSampler
from plugins.iterators.position import Position, Sampler, advance, checked_order, serialize


class PositionedIterator(Iterator):
    """An iterator whose state is a `Position`; how the examples are loaded is up to its children.

    Raises ValueError for an empty dataset, a batch size below 1, `shuffle` with an `order_sampler`,
    TypeError for a dataset without a length and a batch size that is not a whole number.
    """

    dataset: Any = set_by_init()
    _position: Position = set_by_init()

    @checked
    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: Sampler | None = None,
    ) -> None:
        name = type(self).__name__
        _check_dataset(name, dataset)
        _check_batch_size(name, batch_size)
        if shuffle is not None and order_sampler is not None:
            raise ValueError(
                f"{name}: expected shuffle or order_sampler, got both; the sampler decides."
            )
        if isinstance(order_sampler, type):
            sampler = order_sampler.__name__
            raise TypeError(
                f"{name}: expected an order_sampler, got the class {sampler}. Make one of it: "
                f"{sampler}(...)."
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
            order = checked_order(self.order_sampler(np.arange(len(self.dataset)), 0))
        self._position = Position(0, 0, False, order)

    def __iter__(self) -> Iterator:
        """The iterator itself, with a warning where its only pass is over."""
        if not self._repeat and self._position.epoch > 0:
            warn(
                f"{type(self).__name__}: its pass is over, so that this loop gets no batches. Call "
                "reset() before another one."
            )
        return self

    def _step(self) -> tuple[Position, list[int]]:
        """The position after the next batch, and the indices of that batch."""
        step = advance(
            self._position, len(self.dataset), self.batch_size, self._repeat, self.order_sampler
        )
        if step is None:
            raise StopIteration
        return step

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
        """Save or load the position, the order of the running pass, and the sampler's state."""
        sampler: Any = self.order_sampler
        if hasattr(sampler, "serialize"):
            sampler.serialize(serializer["order_sampler"])
        self._position = serialize(self._position, len(self.dataset), sampler, serializer)


def _check_dataset(name: str, dataset: Any) -> None:
    by_position(name, dataset)
    if len(dataset) == 0:
        raise ValueError(
            f"{name}: expected at least one example, got an empty dataset. Look at the folder or "
            "the list that it was made from, and at what filters it."
        )


def _check_batch_size(name: str, batch_size: Any) -> None:
    if batch_size < 1:
        raise ValueError(f"{name}: expected a batch size of 1 or more, got {batch_size}.")


def located(error: BaseException, where: str) -> BaseException:
    """The error of a dataset with a note that says where it comes from, once.

    A StopIteration, which would silently end a loop over the iterator, is a RuntimeError; and so is
    a SystemExit of a worker process, which would end the main one, and with its status.
    """
    if isinstance(error, StopIteration | SystemExit):
        stopped = RuntimeError(f"{where} It was a {error!r}, which datasets must not raise.")
        stopped.__cause__ = error
        return stopped
    say_where(error, where)
    return error


def say_where(error: BaseException, where: str) -> None:
    """Give the error a note that says where it comes from, once."""
    if where not in getattr(error, "__notes__", ()):
        error.add_note(where)
