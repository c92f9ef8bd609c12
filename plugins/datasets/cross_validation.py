"""Pairs of training and validation sets for cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.datasets.split import random_order
from plugins.datasets.sub_dataset import SubDataset


def get_cross_validation_datasets(
    dataset: Any, n_folds: int, order: Any = None
) -> list[tuple[SubDataset, SubDataset]]:
    """`n_folds` pairs (training set, validation set); every example validates exactly once.

    The folds' lengths differ by one at most.

    >>> [(t[:], v[:]) for t, v in get_cross_validation_datasets([1, 2, 3], 2)]
    [([3], [1, 2]), ([1, 2], [3])]
    """
    length = len(dataset)
    if not 2 <= n_folds <= length:
        raise ValueError(
            f"get_cross_validation_datasets: expected 2 to {length} folds, got {n_folds}."
        )
    whole = np.arange(length) if order is None else np.asarray(order)
    return [_fold(dataset, whole, part) for part in np.array_split(np.arange(length), n_folds)]


def _fold(dataset: Any, order: Any, part: Any) -> tuple[SubDataset, SubDataset]:
    turned = np.concatenate([np.delete(order, part), order[part]])
    rest = len(turned) - len(part)
    return SubDataset(dataset, 0, rest, turned), SubDataset(dataset, rest, len(turned), turned)


def get_cross_validation_datasets_random(
    dataset: Any, n_folds: int, seed: int | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """The same on a random order of the examples, which `seed` fixes."""
    return get_cross_validation_datasets(dataset, n_folds, random_order(dataset, seed))
