"""A dataset that is another one, to derive from."""

from __future__ import annotations

from typing import Any

from core.errors.set_by_init import set_by_init
from plugins.datasets.tabular.tabular_dataset import Keys, Mode, Rows, TabularDataset


class DelegateDataset(TabularDataset):
    """The dataset `dataset` under another class; a subclass overrides what shall differ.

    >>> from core.datasets import from_data
    >>> class Named(DelegateDataset):
    ...     '''A table with a title.'''
    >>> Named(from_data(("x", [1, 2])))[1]
    2
    """

    dataset: TabularDataset = set_by_init()

    def __init__(self, dataset: TabularDataset) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the dataset."""
        return self.dataset.keys

    @property
    def mode(self) -> Mode:
        """The mode of the dataset."""
        return self.dataset.mode

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Rows of the dataset."""
        return self.dataset.get_examples(indices, key_indices)

    def convert(self, data: Any) -> Any:
        """What the dataset makes of the data."""
        return self.dataset.convert(data)
