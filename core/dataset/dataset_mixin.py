"""The base of datasets that compute their examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from core.dataset.indexing import position, positions
from core.errors.set_by_init import NeedsInit


def named(dataset: Any) -> str:
    """A dataset of any kind by its class and its length, where it has one by now.

    >>> named([3, 1, 4])
    '<list: 3 examples>'
    """
    try:
        count = len(dataset)
    except Exception:  # to be looked at is no occasion to fail
        return object.__repr__(dataset)
    return f"<{type(dataset).__name__}: {count:,} example{'s' * (count != 1)}>"


class DatasetMixin(NeedsInit, ABC):
    """Base of datasets that define `__len__` and `get_example`; indexing follows from these.

    >>> class Squares(DatasetMixin):
    ...     def __len__(self):
    ...         return 5
    ...     def get_example(self, i):
    ...         return i * i
    >>> dataset = Squares()
    >>> dataset[3], dataset[1:4], dataset[[0, 4]]
    (9, [1, 4, 9], [0, 16])
    >>> dataset[-1], list(dataset)
    (16, [0, 1, 4, 9, 16])
    >>> dataset
    <Squares: 5 examples>
    """

    def __repr__(self: Any) -> str:
        return named(self)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of examples."""

    def get_example(self, i: int, /) -> Any:
        """Return the example at position `i`, which is within the length."""
        raise NotImplementedError(
            f"{type(self).__name__}: expected get_example(i) to be defined, or __getitem__(index)."
        )

    def __getitem__(self, index: Any) -> Any:
        """Return one example for an integer, a list of them for a slice, a list or an array.

        Negative integers count from the end. Raises IndexError outside of the length.
        """
        name, length = type(self).__name__, len(self)
        found = positions(name, index, length)
        if found is None:
            return self.get_example(position(name, index, length))
        return [self.get_example(i) for i in found]
