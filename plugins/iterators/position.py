"""Where an iterator is in its dataset, and how it goes on: shared by all iterators.

A position is a value. The iterators that prepare batches ahead compute later positions while the
one that is saved stays that of the last batch handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from core.errors import CheckpointError
from core.link.serializer import AbstractSerializer, Deserializer
from plugins.iterators.order_samplers import ShuffleOrderSampler

Order: TypeAlias = Any  # a host array of integers, or None for the dataset's own order
Sampler: TypeAlias = Callable[[Any, int], Any]


class Position(NamedTuple):
    """After some batch: passes completed, examples used of the next one, and its order."""

    epoch: int
    used: int
    is_new_epoch: bool
    order: Order
    previous_epoch_detail: float = -1.0

    def epoch_detail(self, length: int) -> float:
        """Passes completed, with their fraction."""
        return self.epoch + self.used / self.pass_length(length)

    def pass_length(self, length: int) -> int:
        """Examples in one pass: what the order lists, or the whole dataset."""
        return length if self.order is None else len(self.order)


def advance(
    position: Position, length: int, batch_size: int, repeat: bool, sampler: Sampler | None
) -> tuple[Position, list[int]] | None:
    """The next position and the indices of its batch; None where the passes are over.

    A batch that reaches the end of a pass is filled from the next one if `repeat`, else it is
    shorter. A pass that is shuffled is of as many examples as there are where it begins.
    """
    if not repeat and position.epoch > 0:
        return None
    epoch, used, order = position.epoch, position.used, position.order
    indices: list[int] = []
    begun = used
    while True:
        if used == 0 and sampler is not None and _is_of_all(sampler) and len(order) != length:
            order = checked_order(sampler(np.arange(length), begun))  # the dataset has grown since
        size = length if order is None else len(order)
        stop = min(used + batch_size - len(indices), size)
        indices += range(used, stop) if order is None else order[used:stop].tolist()
        used = stop
        if used < size:
            break
        epoch, used = epoch + 1, 0
        if not repeat:
            break
        order = None if sampler is None else checked_order(sampler(order, begun))
        begun = 0
    if position.pass_length(length) > length and _is_of_all(sampler) and max(indices) >= length:
        raise IndexError(
            f"iterator: expected the dataset to keep the {len(position.order)} examples of a pass "
            f"until it is over, got {length} in the middle of it. Take examples away between "
            "passes, or begin another one by reset()."
        )
    before = position.epoch_detail(length)
    return Position(epoch, used, epoch > position.epoch, order, before), indices


def foreseen(
    position: Position, length: int, batch_size: int, repeat: bool, sampler: Sampler | None
) -> Iterator[tuple[Position, list[int]]]:
    """The batches to come, each as (position before it, indices), as far as they are certain.

    A sampler is asked for the next order when the pass is over, not sooner: it may draw from random
    numbers that others draw from as well. Until then, of the batch that completes the pass only
    the part that lies in this pass is certain, and nothing after it.
    """
    while True:
        size = position.pass_length(length)
        if sampler is not None and position.used + batch_size >= size:
            if repeat or position.epoch == 0:
                used, order = position.used, position.order
                yield position, [*range(used, length)] if order is None else order[used:].tolist()
            return
        step = advance(position, length, batch_size, repeat, None)
        if step is None:
            return
        yield position, step[1]
        position = step[0]


def checked_order(order: Any) -> Order:
    """An order that a sampler gave: None, or an array of integers with at least one."""
    if order is None:
        return None
    found = np.asarray(order)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        raise ValueError(
            "order_sampler: expected one axis of integers, at least one of them; got an array "
            f"{found.dtype}{list(found.shape)}."
        )
    return found


def serialize(
    position: Position, length: int, sampler: Sampler | None, serializer: AbstractSerializer
) -> Position:
    """Save a position, or load one that fits a dataset of `length` examples.

    There is an order where there is a sampler, as in files of Chainer. One that shuffles gives
    orders of the whole dataset, as it was when the pass began: where it has changed since then, its
    `length` is saved too. Those of others may be of any length, and count from the end.
    """
    held = None if position.order is None else position.order.copy()
    found = Position(
        epoch=serializer("epoch", position.epoch),
        used=serializer("current_position", position.used),
        is_new_epoch=serializer("is_new_epoch", position.is_new_epoch),
        order=None if sampler is None else serializer.of_any_shape("order", held),
        previous_epoch_detail=serializer("previous_epoch_detail", position.previous_epoch_detail),
    )
    held_to, whole = found.pass_length(length), _is_of_all(sampler)
    has_changed = whole and held_to != length
    if not isinstance(serializer, Deserializer):
        if has_changed:
            serializer.optional_value("length", length)
        return found
    same = not whole or length == int(serializer.optional_value("length", held_to))
    drawn_anew = has_changed and found.used == 0  # as `advance` does it
    within = drawn_anew or _within(found.order, 0 if whole else -length, length)
    if not (same and within and 0 <= found.used < held_to):
        raise CheckpointError(
            f"iterator: the saved position, {found.used} of {held_to}, is not in this dataset of "
            f"{length} examples. Resume with the dataset that the state was saved with."
        )
    return found


def _is_of_all(sampler: Sampler | None) -> bool:
    """Whether each order of the sampler is of the whole dataset, whatever was before."""
    return type(sampler) is ShuffleOrderSampler


def _within(order: Order, least: int, length: int) -> bool:
    return order is None or bool(order.min() >= least and order.max() < length)
