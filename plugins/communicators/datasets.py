"""How a dataset, and the iterations of an epoch, are divided among the ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import backend
from core.dataset import DatasetMixin
from core.dataset.indexing import by_position
from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.training import Communicator
from core.typing import Seed
from plugins.communicators.argument import length_of, refuse_no_communicator
from plugins.datasets.sub_dataset import SubDataset


class DataSizeError(CommunicatorError):
    """A dataset that has nothing for some rank."""


@checked
def scatter_dataset(
    dataset: Any,
    comm: Communicator,
    root: int = 0,
    shuffle: bool = False,
    seed: Seed | None = None,
    max_buf_len: int | None = None,
    *,
    force_equal_length: bool = True,
) -> SubDataset:
    """Return the part of a dataset that is for this rank.

    Where every rank gives the dataset, nothing travels but a seed; where only `root` does, and the
    others give None, the dataset travels pickled.

    Args:
        dataset: The whole of it, at least on `root`.
        comm: The communicator.
        root: The rank whose dataset and seed count.
        shuffle: Whether the order is drawn before it is divided.
        seed: What the order follows from; None draws one, as orders of iterators are drawn.
        max_buf_len: Taken for ChainerMN's sake; nothing is limited by it.
        force_equal_length: Make all parts as long as the longest: some examples are then in two.
            Without it the parts make up the dataset, each example once.

    Raises DataSizeError, on every rank, where there is an empty part.

    >>> from core.communicators import create_communicator
    >>> scatter_dataset("abc", create_communicator("local"))[:]
    ['a', 'b', 'c']
    """
    refuse_no_communicator("scatter_dataset", comm)
    rank = comm._peer("scatter_dataset", root, itself=True)
    if dataset is not None:
        by_position("scatter_dataset", dataset)
    given = comm.allgather_obj(None if dataset is None else length_of("scatter_dataset", dataset))
    length = given[rank]
    if length is None:
        raise DataSizeError(f"scatter_dataset: expected a dataset on rank {root}, got None.")
    begin, end = scatter_index(length, comm, root, force_equal_length=force_equal_length)
    order = None
    if shuffle:
        drawn = None
        if comm.rank == rank:
            own = backend.host().random.integers(0, 1 << 62) if seed is None else seed
            drawn = int(np.random.default_rng(int(own)).integers(1 << 62))
        order = np.random.default_rng(comm.bcast_obj(drawn, rank)).permutation(length)
    if any([each != length for each in given]):
        dataset = comm.bcast_obj(dataset, rank)
    return SubDataset(dataset, begin, end, order)


@checked
def scatter_index(
    n_total_samples: int, comm: Communicator, root: int = 0, *, force_equal_length: bool = True
) -> tuple[int, int]:
    """Where this rank's part of so many examples begins, and where it ends.

    >>> from core.communicators import create_communicator
    >>> scatter_index(5, create_communicator("local"))
    (0, 5)
    """
    size, rank = comm.size, comm.rank
    if n_total_samples < 1:
        raise DataSizeError(f"scatter_dataset: expected an example, got {n_total_samples}.")
    if n_total_samples < size and not force_equal_length:
        raise DataSizeError(
            f"scatter_dataset: expected an example for each of the {size} ranks at least, got "
            f"{n_total_samples}. Start fewer processes, or take force_equal_length=True, with "
            "which examples are in several parts."
        )
    begin = n_total_samples * rank // size
    if force_equal_length:
        return begin, begin - (-n_total_samples // size)
    return begin, n_total_samples * (rank + 1) // size


class _Empty(DatasetMixin):
    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def get_example(self, i: int) -> tuple[()]:
        """An example without anything in it."""
        return ()


def create_empty_dataset(dataset: Any) -> DatasetMixin:
    """A dataset of the same length whose examples are `()`.

    For ranks of a divided model that get their input from other ranks.

    >>> create_empty_dataset("abc")[1]
    ()
    """
    return _Empty(length_of("create_empty_dataset", dataset))


@checked
def get_n_iterations_for_one_epoch(dataset: Any, local_batch_size: int, comm: Communicator) -> int:
    """How many steps all ranks make until the one with most examples has used all of its part.

    >>> from core.communicators import create_communicator
    >>> get_n_iterations_for_one_epoch(range(10), 4, create_communicator("local"))
    3
    """
    who = "get_n_iterations_for_one_epoch"
    refuse_no_communicator(who, comm)
    if local_batch_size < 1:
        raise DataSizeError(
            f"{who}: expected a batch of an example at least, got {local_batch_size}."
        )
    counts: list[int] = comm.allgather_obj(-(-length_of(who, dataset) // local_batch_size))
    return max(counts)


@checked
def get_epoch_trigger(
    n_epochs: int, dataset: Any, local_batch_size: int, comm: Communicator
) -> tuple[int, str]:
    """A trigger of so many epochs, counted in steps, which fires on all ranks at once."""
    return n_epochs * get_n_iterations_for_one_epoch(dataset, local_batch_size, comm), "iteration"
