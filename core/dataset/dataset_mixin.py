"""The base of datasets that compute their examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class DatasetMixin(ABC):
    """A dataset that says how long it is and how to get one example; indexing follows from that.

    >>> class Squares(DatasetMixin):
    ...     def __len__(self):
    ...         return 5
    ...     def get_example(self, i):
    ...         return i * i
    >>> dataset = Squares()
    >>> dataset[3], dataset[1:4], dataset[[0, 4]]
    (9, [1, 4, 9], [0, 16])
    """

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @abstractmethod
    def get_example(self, i: int) -> Any:
        """The example at position `i`, which a caller keeps within the length."""

    def __getitem__(self, index: Any) -> Any:
        """One example for an integer; a list of them for a slice, a list or an array."""
        if isinstance(index, slice):
            return [self.get_example(i) for i in range(*index.indices(len(self)))]
        if getattr(index, "ndim", 0) == 1:
            index = index.tolist()
        if not isinstance(index, list):
            return self.get_example(index)
        if any(isinstance(i, bool) for i in index):
            raise TypeError(
                f"{type(self).__name__}: expected integers as indices, got a mask of booleans. "
                "Turn it into positions first."
            )
        return [self.get_example(i) for i in index]
