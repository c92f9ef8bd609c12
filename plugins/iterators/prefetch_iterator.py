"""What the iterators share that load examples before they are asked for them."""

from __future__ import annotations

import os
from abc import abstractmethod
from itertools import islice
from operator import is_not
from typing import Any

import numpy as np

from core.errors.set_by_init import set_by_init
from core.link.serializer import AbstractSerializer
from core.registry.configuration import current_state
from plugins.iterators.position import Position, Sampler, foreseen
from plugins.iterators.positioned import PositionedIterator

_Key = tuple[int, int]  # passes completed and examples used: where a batch begins


class Loading:
    """A batch on its way: the indices that have been asked for, and what will give examples."""

    def __init__(self) -> None:
        self.indices: list[int] = []
        self.pieces: list[Any] = []


class PrefetchIterator(PositionedIterator):
    """Hands out what SerialIterator would, and has the next batches loaded meanwhile.

    The position is that of the last batch handed out, whatever is being loaded: saving it, and the
    calls of the sampler, are those of SerialIterator. A batch that could not be loaded has not been
    handed out; the next call tries it again.
    """

    _asked_for: tuple[Any, ...] = set_by_init()
    _length: int = set_by_init()

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        repeat: bool,
        shuffle: bool | None,
        order_sampler: Sampler | None,
        n_prefetch: int,
    ) -> None:
        self._loading: dict[_Key, Loading] = {}
        self._process = os.getpid()
        self.n_prefetch = n_prefetch
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler)
        self._asked_for, self._length = self._deciding(), len(dataset)

    @abstractmethod
    def _submit(self, indices: list[int], start: Position, offset: int) -> list[Any]:
        """Begin to load examples, the first of them number `offset` of the batch at `start`."""

    @abstractmethod
    def _collect(self, pieces: list[Any]) -> list[Any]:
        """Wait for the examples that `_submit` began to load."""

    @abstractmethod
    def _cancel(self, pieces: list[Any]) -> None:
        """Let examples go that nobody waits for any more."""

    def reset(self) -> None:
        """Start again at the beginning, with a new order where there is a sampler."""
        self._forget()
        super().reset()

    def __next__(self) -> list[Any]:
        """The next batch: a list of examples, which may be on their way already."""
        if self._process != os.getpid():  # a fork, in which no thread lives on, nor hears workers
            self.__dict__.update(self.__getstate__(), _process=os.getpid())
        deciding, length = self._deciding(), len(self.dataset)
        if length != self._length or any(map(is_not, self._asked_for, deciding)):
            self._forget()
            self._asked_for, self._length = deciding, length
        try:
            position, indices = self._step()
            batch = self._load(position, indices)
        except BaseException:
            self._forget()  # the sampler is asked again, and may say something else
            raise
        self._loading.pop(_key(self._position), None)
        self._position = position
        return batch

    def _load(self, after: Position, indices: list[int]) -> list[Any]:
        """The examples of the next batch; those that come `after` it are on their way then."""
        loading = self._ask(self._position, indices)
        self._prefetch(after)
        return self._collect(loading.pieces)

    def _deciding(self) -> tuple[Any, ...]:
        """What decides which examples are on their way, and how they are made: a program may set
        each anew, and datasets look at `core.config`.
        """
        settings = current_state().settings().values()
        return self.dataset, self.batch_size, self.order_sampler, *settings

    def _prefetch(self, position: Position) -> None:
        coming = foreseen(
            position, len(self.dataset), self.batch_size, self._repeat, self.order_sampler
        )
        for start, indices in islice(coming, self.n_prefetch):
            self._ask(start, indices)

    def _ask(self, start: Position, indices: list[int]) -> Loading:
        """See to it that the batch at `start` is on its way; part of it may be already."""
        loading = self._loading.setdefault(_key(start), Loading())
        known = len(loading.indices)
        if known < len(indices):
            loading.pieces += self._submit(indices[known:], start, known)
            loading.indices = indices
        return loading

    def _forget(self) -> None:
        for loading in self._loading.values():
            self._cancel(loading.pieces)
        self._loading.clear()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the position, and the order of the running pass."""
        before = self._position
        super().serialize(serializer)
        if not _same(before, self._position):
            self._forget()

    def finalize(self) -> None:
        """Let go of workers and batches; the position stays, and `next` would start new ones."""
        self._forget()

    def close(self) -> None:
        """The same as `finalize`."""
        self.finalize()

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the position, and loads batches of its own."""
        return {**self.__dict__, "_loading": {}}


def _key(start: Position) -> _Key:
    return start.epoch, start.used


def _same(one: Position, other: Position) -> bool:
    """Whether the same batches follow."""
    return _key(one) == _key(other) and np.array_equal(one.order, other.order)
