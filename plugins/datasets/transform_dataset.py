"""A dataset seen through a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.dataset import DatasetMixin
from core.dataset.indexing import by_position
from core.errors.set_by_init import set_by_init


class TransformDataset(DatasetMixin):
    """The examples of `dataset`, each passed through `transform` when it is asked for.

    >>> TransformDataset([1, 2, 3], lambda x: x * 10)[1]
    20
    """

    _dataset: Any = set_by_init()

    def __init__(self, dataset: Any, transform: Callable[[Any], Any]) -> None:
        self._dataset = by_position("TransformDataset", dataset)
        self._transform = transform

    def __len__(self) -> int:
        return len(self._dataset)

    def get_example(self, i: int) -> Any:
        """The transformed example at position `i`."""
        return self._transform(self._dataset[i])
