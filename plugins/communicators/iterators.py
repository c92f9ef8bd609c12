"""Iterators that go on alike on all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import backend
from core.dataset import Iterator
from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import Communicator
from core.typing import Seed
from plugins.communicators.argument import refuse_no_communicator
from plugins.iterators.order_samplers import ShuffleOrderSampler
from plugins.iterators.serial_iterator import SerialIterator


class NoExamples(list[Any]):
    """A share without examples; converters make arrays of it that are like those of an `example`.

    >>> from core.dataset import concat_examples
    >>> concat_examples(NoExamples((2.0, 1)))
    (array([], dtype=float64), array([], dtype=int64))
    """

    def __init__(self, example: Any) -> None:
        super().__init__()
        self.example = example


class PartitionedIterator(SerialIterator):
    """Divides each batch of a dataset among the ranks: none is lost, and none comes twice.

    All ranks have the same dataset, and go through it in the same order, that of rank 0; of each
    batch of `batch_size` examples, the batch of the whole job, a rank gets its share. Epochs and
    saved state are the same on all ranks and do not depend on how many there are: a training
    resumes on fewer or more ranks with the example that comes next.

    Shares differ by one example where `batch_size` cannot be divided; the last batch without
    `repeat` may have none for some ranks, which `create_multi_node_optimizer` weights rightly:
    `NoExamples`, of which `concat_examples` makes arrays.

    >>> from core.communicators import create_communicator
    >>> comm = create_communicator("local")
    >>> PartitionedIterator([1, 2, 3], 2, comm, shuffle=False).next()
    [1, 2]
    """

    @checked
    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        comm: Communicator,
        repeat: bool = True,
        shuffle: bool = True,
        *,
        seed: Seed | None = None,
    ) -> None:
        refuse_no_communicator("PartitionedIterator", comm)
        if batch_size < comm.size:
            raise CommunicatorError(
                f"PartitionedIterator: expected a batch with an example for each of {comm.size} "
                f"ranks at least, got a batch size of {batch_size}."
            )
        self._comm = comm
        sampler = ShuffleOrderSampler(_same_draws(comm, seed)) if shuffle else None
        super().__init__(dataset, batch_size, repeat, None if shuffle else False, sampler)
        comm.compare("PartitionedIterator", [("examples", len(dataset)), ("batch", batch_size)])

    def __next__(self) -> list[Any]:
        """The share of this rank in the next batch, a list that may be empty."""
        position, indices = self._step()
        rank, size = self._comm.rank, self._comm.size
        begin, end = len(indices) * rank // size, len(indices) * (rank + 1) // size
        batch = self._examples(indices[begin:end])
        if not batch:
            batch = NoExamples(*self._examples(indices[:1]))
        self._position = position  # after the dataset, which may raise
        return batch


def _same_draws(comm: Communicator, seed: Seed | None = None) -> Any:
    """A generator that draws the same on all ranks."""
    drawn = None
    if comm.rank == 0:
        drawn = backend.get("numpy").random.integers(0, 1 << 31) if seed is None else seed
    return np.random.Generator(np.random.PCG64(int(comm.bcast_obj(drawn))))


class _FromMaster(Iterator):
    """Batches that one rank's iterator makes, on all ranks."""

    def __init__(self, actual: Iterator, comm: Communicator, rank_master: int) -> None:
        self._actual, self._comm = actual, comm
        self._master = comm._peer("create_multi_node_iterator", rank_master, itself=True)
        self._told: dict[str, Any] = {}
        self._tell()

    def _tell(self, batch: Any = None) -> Any:
        if self._comm.rank == self._master:
            own = {name: getattr(self._actual, name, None) for name in _TOLD}
        else:
            own = None
        batch, self._told = self._comm.bcast_obj((batch, own), self._master)
        return batch

    def __next__(self) -> Any:
        """The master's next batch as it is; StopIteration on all ranks after its last one."""
        batch = None
        if self._comm.rank == self._master:
            batch = next(self._actual, None)
        batch = self._tell(batch)
        if batch is None:
            raise StopIteration
        return batch

    def __getattr__(self, name: str) -> Any:
        if name in _TOLD:
            return self.__dict__["_told"][name]
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._actual, name)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the position of the own iterator, of which the master's counts."""
        self._actual.serialize(serializer)
        if isinstance(serializer, Deserializer):
            self._tell()

    def reset(self) -> None:
        """Start again."""
        getattr(self._actual, "reset", lambda: None)()
        self._tell()

    def finalize(self) -> None:
        """Release what the own iterator holds."""
        self._actual.finalize()


_TOLD = ("epoch", "epoch_detail", "previous_epoch_detail", "is_new_epoch", "current_position")


@checked
def create_multi_node_iterator(
    actual_iterator: Iterator, communicator: Communicator, rank_master: int = 0
) -> Any:
    """An iterator that gives every rank the batches of the rank `rank_master`.

    For models that are divided among ranks, which need the same batch. All ranks ask for batches
    alike. Batches travel pickled.

    >>> from core import iterators
    >>> from core.communicators import create_communicator
    >>> own = iterators.SerialIterator([1, 2, 3], 2, shuffle=False)
    >>> create_multi_node_iterator(own, create_communicator("local")).next()
    [1, 2]
    """
    refuse_no_communicator("create_multi_node_iterator", communicator)
    return _FromMaster(actual_iterator, communicator, rank_master)


@checked
def create_synchronized_iterator(actual_iterator: Any, communicator: Communicator) -> Any:
    """The iterator itself, which from now on draws its orders as those of all other ranks do.

    It starts again at the beginning. Raises TypeError for an iterator without an `order_sampler`.
    """
    refuse_no_communicator("create_synchronized_iterator", communicator)
    if not hasattr(actual_iterator, "order_sampler"):
        raise TypeError(
            "create_synchronized_iterator: expected an iterator that draws its order, such as "
            f"SerialIterator, got {type(actual_iterator).__name__}."
        )
    draws = _same_draws(communicator)
    if actual_iterator.order_sampler is not None:
        actual_iterator.order_sampler = ShuffleOrderSampler(draws)
    actual_iterator.reset()
    return actual_iterator
