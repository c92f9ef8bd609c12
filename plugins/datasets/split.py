"""Dividing a dataset into parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import backend
from core.dataset import indexing
from core.errors.kinds import checked
from core.typing import Seed
from plugins.datasets.sub_dataset import SubDataset


def random_order(who: str, dataset: Any, seed: Seed | None) -> np.ndarray[Any, Any]:
    """A random order of a dataset: fixed by `seed`, or drawn as all else in the framework."""
    indexing.by_position(who, dataset)
    if seed is None:
        return np.asarray(backend.get("numpy").random.permutation(len(dataset)))
    return np.random.RandomState(seed).permutation(len(dataset))


@checked
def split_dataset(dataset: Any, split_at: int, order: Any = None) -> tuple[SubDataset, SubDataset]:
    """The first `split_at` examples, and the rest; of the dataset as `order` lists it, if given.

    Raises ValueError for a `split_at` that is negative or beyond the dataset.

    >>> first, second = split_dataset([1, 2, 3], 2)
    >>> first[:], second[:]
    ([1, 2], [3])
    """
    indexing.by_position("split_dataset", dataset)
    if not 0 <= split_at <= len(dataset):
        raise ValueError(
            f"split_dataset: expected 0 <= split_at <= {len(dataset)}, the dataset's length, "
            f"got {split_at}."
        )
    return (
        SubDataset(dataset, 0, split_at, order),
        SubDataset(dataset, split_at, len(dataset), order),
    )


@checked
def split_dataset_random(
    dataset: Any, first_size: int, seed: Seed | None = None
) -> tuple[SubDataset, SubDataset]:
    """`first_size` examples drawn at random without repeats, and the rest.

    >>> first, second = split_dataset_random(range(5), 3, seed=0)
    >>> sorted(first[:] + second[:])
    [0, 1, 2, 3, 4]
    """
    return split_dataset(dataset, first_size, random_order("split_dataset_random", dataset, seed))


@checked
def split_dataset_n(dataset: Any, n: int, order: Any = None) -> list[SubDataset]:
    """`n` parts of equal length; what does not divide evenly is left out at the end.

    Raises ValueError for no parts, or more than there are examples, which would be empty.

    >>> [part[:] for part in split_dataset_n([1, 2, 3, 4, 5], 2)]
    [[1, 2], [3, 4]]
    """
    indexing.by_position("split_dataset_n", dataset)
    if not 0 < n <= len(dataset):
        raise ValueError(
            f"split_dataset_n: expected 1 to {len(dataset)} parts, as many as examples, got {n}."
        )
    size = len(dataset) // n
    order = None if order is None else np.asarray(order)  # once for all parts
    return [SubDataset(dataset, i * size, (i + 1) * size, order) for i in range(n)]


@checked
def split_dataset_n_random(dataset: Any, n: int, seed: Seed | None = None) -> list[SubDataset]:
    """`n` parts of equal length, drawn at random without repeats."""
    return split_dataset_n(dataset, n, random_order("split_dataset_n_random", dataset, seed))
