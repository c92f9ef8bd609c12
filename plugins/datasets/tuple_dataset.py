"""Several datasets side by side, as tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.dataset import DatasetMixin, indexing
from core.dataset.indexing import by_position
from core.errors.set_by_init import NeedsInit


def equal_length(where: str, datasets: dict[str, Sequence[Any]]) -> int:
    """The one length of all the datasets; raises ValueError where there are several, or none."""
    lengths = {name: len(by_position(where, dataset)) for name, dataset in datasets.items()}
    if not lengths:
        raise ValueError(f"{where}: expected at least one dataset, got none.")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"{where}: expected datasets of one length; {told}.")
    return next(iter(lengths.values()))


class TupleDataset(NeedsInit):
    """The tuples of the elements of several datasets (arrays, lists, datasets) of equal length.

    >>> dataset = TupleDataset("abc", [1, 2, 3])
    >>> dataset[1], dataset[:2]
    (('b', 2), [('a', 1), ('b', 2)])
    """

    def __init__(self, *datasets: Any) -> None:
        self._datasets = datasets
        names = {f"dataset {i}": dataset for i, dataset in enumerate(datasets)}
        self._length = equal_length("TupleDataset", names)

    __repr__ = DatasetMixin.__repr__

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        """One tuple for an integer; a list of them for a slice, a list or an array of integers."""
        found = indexing.positions(type(self).__name__, index, self._length)
        if found is not None:
            return [self[i] for i in found]
        at = indexing.position(type(self).__name__, index, self._length)
        return tuple([dataset[at] for dataset in self._datasets])
