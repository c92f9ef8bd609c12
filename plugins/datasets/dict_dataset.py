"""Several datasets side by side, as dicts."""

from __future__ import annotations

from typing import Any

from core.dataset import DatasetMixin, indexing
from core.errors.set_by_init import NeedsInit
from plugins.datasets.tuple_dataset import equal_length


class DictDataset(NeedsInit):
    """Dicts of the elements of several named datasets of equal length.

    >>> dataset = DictDataset(x="abc", t=[1, 2, 3])
    >>> dataset[1], dataset[2:]
    ({'x': 'b', 't': 2}, [{'x': 'c', 't': 3}])
    """

    def __init__(self, **datasets: Any) -> None:
        self._datasets = datasets
        self._length = equal_length("DictDataset", datasets)

    __repr__ = DatasetMixin.__repr__

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        """One dict for an integer; a list of them for a slice, a list or an array of integers."""
        found = indexing.positions(type(self).__name__, index, self._length)
        if found is not None:
            return [self[i] for i in found]
        at = indexing.position(type(self).__name__, index, self._length)
        return {name: dataset[at] for name, dataset in self._datasets.items()}
