"""Pairs of training and validation sets for cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.dataset import indexing
from core.errors.kinds import checked
from core.typing import Seed
from plugins.datasets.split import random_order
from plugins.datasets.sub_dataset import SubDataset

Folds = list[tuple[SubDataset, SubDataset]]


@checked
def get_cross_validation_datasets(
    dataset: Any, n_folds: int | None = None, order: Any = None, *, n_fold: int | None = None
) -> Folds:
    """`n_folds` pairs (training set, validation set); every example validates exactly once.

    The last examples, in the order of the dataset or of the list of indices `order`, validate
    first. The folds' lengths differ by one at most. `n_fold` is the old name of `n_folds`.
    Raises ValueError for fewer than 2 folds, or more than there are examples.

    >>> [(t[:], v[:]) for t, v in get_cross_validation_datasets([1, 2, 3], 2)]
    [([1], [2, 3]), ([2, 3], [1])]
    """
    indexing.by_position("get_cross_validation_datasets", dataset)
    folds, length = n_fold if n_folds is None else n_folds, len(dataset)
    if folds is None or not 2 <= folds <= length:
        raise ValueError(
            f"get_cross_validation_datasets: expected 2 to {length} folds, as many as there are "
            f"examples, got {folds}."
        )
    turned = np.arange(length) if order is None else np.asarray(order)
    pairs = []
    for size in map(len, np.array_split(turned, folds)):
        pairs.append(_pair(dataset, turned, length - size))
        turned = np.roll(turned, size)
    return pairs


def _pair(dataset: Any, order: Any, at: int) -> tuple[SubDataset, SubDataset]:
    return SubDataset(dataset, 0, at, order), SubDataset(dataset, at, len(order), order)


@checked
def get_cross_validation_datasets_random(
    dataset: Any, n_folds: int | None = None, seed: Seed | None = None, *, n_fold: int | None = None
) -> Folds:
    """The same on a random order of the examples, which `seed` fixes."""
    order = random_order("get_cross_validation_datasets_random", dataset, seed)
    return get_cross_validation_datasets(dataset, n_folds, order, n_fold=n_fold)
