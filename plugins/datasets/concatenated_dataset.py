"""Several datasets one after the other."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from core.dataset import DatasetMixin
from core.dataset.indexing import by_position


class ConcatenatedDataset(DatasetMixin):
    """The examples of the first dataset, then those of the second, and so on.

    >>> ConcatenatedDataset([1, 2], [3])[:]
    [1, 2, 3]
    """

    def __init__(self, *datasets: Any) -> None:
        self._datasets = [by_position("ConcatenatedDataset", dataset) for dataset in datasets]
        self._ends = list(accumulate(len(dataset) for dataset in datasets))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def get_example(self, i: int) -> Any:
        """The example at position `i` of the whole; a negative one counts from the end."""
        position = i + len(self) if i < 0 else i
        if not 0 <= position < len(self):
            raise IndexError(f"ConcatenatedDataset: index {i} is outside of {len(self)} examples.")
        which = bisect_right(self._ends, position)
        start = self._ends[which - 1] if which else 0
        return self._datasets[which][position - start]
