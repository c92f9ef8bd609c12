"""A table in another mode, with another converter, and tables put together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from plugins.datasets.tabular.delegate_dataset import DelegateDataset
from plugins.datasets.tabular.slices import rows_of
from plugins.datasets.tabular.tabular_dataset import Keys, Mode, Rows, TabularDataset


class InMode(DelegateDataset):
    """A table whose examples are of another kind."""

    def __init__(self, dataset: TabularDataset, mode: Mode) -> None:
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self) -> Mode:
        """The other kind."""
        return self._mode


class WithConverter(DelegateDataset):
    """A table with a function of its own to make arrays."""

    def __init__(self, dataset: TabularDataset, converter: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data: Any) -> Any:
        """What the function makes of the columns."""
        if isinstance(data, tuple):
            return self._converter(*data)
        if isinstance(data, dict):
            return self._converter(**data)
        return self._converter(data)


class Concatenated(DelegateDataset):
    """Tables one below the other; mode and converter are those of the first."""

    def __init__(self, *datasets: TabularDataset) -> None:
        super().__init__(datasets[0])
        for other in datasets[1:]:
            if other.keys != datasets[0].keys:
                raise ValueError(
                    f"concat: expected datasets with the keys {datasets[0].keys}, got {other.keys}."
                )
        self._datasets = datasets
        self._ends = list(accumulate(map(len, datasets)))

    def __len__(self) -> int:
        return self._ends[-1]

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Rows of all the tables."""
        if indices is None:
            parts = [dataset.get_examples(None, key_indices) for dataset in self._datasets]
            return tuple(_one_after_the_other(columns) for columns in zip(*parts, strict=True))
        examples = [self._row(i, key_indices) for i in rows_of(indices, len(self))]
        return _columns(examples, len(self.keys if key_indices is None else key_indices))

    def _row(self, i: int, key_indices: Keys) -> list[Any]:
        which = bisect_right(self._ends, i)
        place = i - (self._ends[which - 1] if which else 0)
        return [column[0] for column in self._datasets[which].get_examples([place], key_indices)]


def _one_after_the_other(columns: Sequence[Any]) -> list[Any]:
    return [value for column in columns for value in column]


def _columns(examples: Sequence[Sequence[Any]], count: int) -> tuple[list[Any], ...]:
    return tuple([example[i] for example in examples] for i in range(count))


class Joined(DelegateDataset):
    """Tables side by side; the converter is that of the first, and the mode unless it is None."""

    def __init__(self, *datasets: TabularDataset) -> None:
        super().__init__(datasets[0])
        lengths = [len(dataset) for dataset in datasets]
        if len(set(lengths)) > 1:
            raise ValueError(f"join: expected datasets of one length, got {lengths}.")
        self._datasets = datasets
        self._keys = tuple([key for dataset in datasets for key in dataset.keys])
        repeated = {key for key in self._keys if self._keys.count(key) > 1}
        if repeated:
            raise ValueError(
                f"join: expected every key once, got {', '.join(sorted(repeated))} repeatedly. "
                "Leave columns out by dataset.slice[:, keys]."
            )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all the tables."""
        return self._keys

    @property
    def mode(self) -> Mode:
        """The mode of the first table; tuple where its examples are single values."""
        return self.dataset.mode or tuple

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Columns of all the tables, each asked once."""
        wanted = range(len(self._keys)) if key_indices is None else key_indices
        found: dict[int, Any] = {}
        start = 0
        for dataset in self._datasets:
            stop = start + len(dataset.keys)
            mine = [i for i in dict.fromkeys(wanted) if start <= i < stop]
            if mine:
                columns = dataset.get_examples(indices, [i - start for i in mine])
                found.update(zip(mine, columns, strict=True))
            start = stop
        return tuple([found[i] for i in wanted])
