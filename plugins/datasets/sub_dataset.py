"""A part of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.dataset import DatasetMixin
from core.dataset.indexing import by_position
from core.errors.kinds import checked


class SubDataset(DatasetMixin):
    """The examples from position `start` to `finish` - 1 of `dataset`.

    With `order`, positions are those in this list of indices, which must be as long as the dataset.
    Raises ValueError for a start and finish, or an order, that do not fit the dataset, TypeError
    for an order of other things than integers.

    >>> SubDataset("abcde", 1, 3)[:], SubDataset("abcde", 0, 2, order=[4, 3, 2, 1, 0])[:]
    (['b', 'c'], ['e', 'd'])
    """

    @checked
    def __init__(self, dataset: Any, start: int, finish: int, order: Any = None) -> None:
        length = len(by_position("SubDataset", dataset))
        if not 0 <= start <= finish <= length:
            raise ValueError(
                f"SubDataset: expected 0 <= start <= finish <= {length}, the dataset's length; "
                f"got start {start}, finish {finish}."
            )
        self._dataset = dataset
        self._start = start
        self._length = finish - start
        self._order = None if order is None else _checked(order, start, finish, length)

    def __len__(self) -> int:
        return self._length

    def get_example(self, i: int) -> Any:
        """The example at position `i` of the part; a negative one counts from its end."""
        position = i + self._length if i < 0 else i
        if not 0 <= position < self._length:
            raise IndexError(f"SubDataset: index {i} is outside of {self._length} examples.")
        if self._order is not None:
            return self._dataset[int(self._order[position])]
        return self._dataset[self._start + position]


def _checked(order: Any, start: int, finish: int, length: int) -> np.ndarray[Any, Any]:
    """The indices of a part: masks and fractions would be taken for other examples."""
    found = np.asarray(order)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise TypeError(
            f"SubDataset: expected an order of integers, got {found.dtype}{list(found.shape)}. "
            "numpy.flatnonzero(mask) gives the positions of a mask."
        )
    if len(found) != length:
        raise ValueError(f"SubDataset: expected an order of {length} indices, got {len(found)}.")
    part = found[start:finish]
    outside = part[(part < -length) | (part >= length)]
    if len(outside):
        raise ValueError(
            f"SubDataset: expected an order of indices of the {length} examples, got {outside[0]}."
        )
    return part
