"""Parts of tables: some rows, some columns."""

from __future__ import annotations

from typing import Any

from core.errors import nearest
from core.errors.scalars import python_number
from plugins.datasets.tabular.delegate_dataset import DelegateDataset
from plugins.datasets.tabular.tabular_dataset import Keys, Mode, Rows, TabularDataset


class Slicer:
    """What `dataset.slice` is: to be indexed."""

    def __init__(self, dataset: TabularDataset) -> None:
        self._dataset = dataset

    def __getitem__(self, index: Any) -> TabularDataset:
        """A view of some rows, and of some columns."""
        rows, *keys = index if isinstance(index, tuple) else (index,)
        if len(keys) > 1:
            raise IndexError(f"slice: expected rows, or rows and keys, got {len(keys) + 1} things.")
        return Slice(self._dataset, rows, *keys)


class Slice(DelegateDataset):
    """Some rows and columns of a table."""

    def __init__(self, dataset: TabularDataset, rows: Any, keys: Any = None) -> None:
        super().__init__(dataset)
        self._rows = rows_of(rows, len(dataset))
        single = isinstance(keys, str | int)
        self._single = single
        wanted = range(len(dataset.keys)) if keys is None else [keys] if single else keys
        self._columns = [_position(dataset, key) for key in wanted]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns in the part."""
        return tuple([self.dataset.keys[i] for i in self._columns])

    @property
    def mode(self) -> Mode:
        """The mode of the table; None for a column alone."""
        return None if self._single else self.dataset.mode

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Rows of the part."""
        rows = self._rows if indices is None else _of(self._rows, rows_of(indices, len(self)))
        columns = self._columns
        if key_indices is not None:
            columns = [columns[i] for i in key_indices]
        return self.dataset.get_examples(_as_rows(rows), columns)


def _position(dataset: TabularDataset, key: Any) -> int:
    names = dataset.keys
    if isinstance(key, int) and -len(names) <= key < len(names):
        return key % len(names)
    if key not in names:
        raise KeyError(
            f"slice: the dataset has no {key!r}; its keys are {', '.join(names)}."
            f"{nearest(str(key), names)} Several keys are a tuple."
        )
    return names.index(key)


def rows_of(rows: Any, length: int) -> range | list[int]:
    """Positions from 0 that a slice, a list of positions or a mask stands for."""
    if isinstance(rows, slice):
        return range(*rows.indices(length))
    found: Any = rows.tolist() if hasattr(rows, "tolist") else rows
    if not isinstance(found, list | tuple | range):
        raise TypeError(f"slice: expected rows as a slice or a list, got {rows!r}.")
    found = [*map(python_number, found)]  # a list may have truth values of NumPy's
    if found and all([isinstance(i, bool) for i in found]):
        return _masked(found, length)
    for i in found:
        if not -length <= i < length:
            raise IndexError(f"slice: there is no row {i} in a dataset of {length} rows.")
    return [i % length for i in found]


def _masked(mask: list[bool], length: int) -> list[int]:
    if len(mask) != length:
        raise ValueError(f"slice: expected a mask of {length} booleans, got {len(mask)}.")
    return [i for i, taken in enumerate(mask) if taken]


def _of(rows: range | list[int], places: range | list[int]) -> range | list[int]:
    if isinstance(rows, range) and isinstance(places, range):
        return rows[_as_slice(places)]
    return [rows[i] for i in places]


def _as_rows(rows: range | list[int]) -> slice | list[int]:
    return _as_slice(rows) if isinstance(rows, range) else rows


def _as_slice(rows: range) -> slice:
    if not rows:
        return slice(0, 0, 1)
    return slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)
