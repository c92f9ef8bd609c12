"""Tables whose columns are computed from those of another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence, Sized
from typing import Any

from plugins.datasets.tabular.delegate_dataset import DelegateDataset
from plugins.datasets.tabular.slices import rows_of
from plugins.datasets.tabular.tabular_dataset import Keys, Mode, Rows, TabularDataset


class _Computed(DelegateDataset):
    """New columns by a function; what it returns for one row tells what examples are."""

    what = "transform"

    def __init__(
        self, dataset: TabularDataset, keys: str | tuple[str, ...], function: Callable[..., Any]
    ) -> None:
        super().__init__(dataset)
        self._single = isinstance(keys, str)
        self._keys = (keys,) if isinstance(keys, str) else tuple(keys)
        self._function = function
        self._kind: Mode = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the new columns."""
        return self._keys

    @property
    def mode(self) -> Mode:
        """Dict or tuple, as the function returns; None for one column by its name alone."""
        if self._single:
            return None
        if self._kind is None and len(self):
            self._returned([0])
        return self._kind or tuple

    def _returned(self, indices: Rows) -> list[Any]:
        """What the function returned for some rows; the first time, it tells the mode."""
        returned = self._computed(self.dataset.get_examples(indices, None))
        if self._kind is None and returned:
            self._kind = tuple
            if isinstance(returned[0], dict):
                self._kind = dict
        return returned

    @abstractmethod
    def _computed(self, columns: Sequence[Any]) -> list[Any]:
        """What the function returns for these columns: one thing, or one a row."""

    def _values(self, returned: Any) -> Sequence[Any]:
        """What the function returned, in the order of the keys."""
        if self._single:
            return [returned]
        if isinstance(returned, dict) and returned.keys() == set(self._keys):
            return [returned[key] for key in self._keys]
        if isinstance(returned, tuple) and len(returned) == len(self._keys):
            return returned
        raise ValueError(
            f"{self.what}: expected the function to return a tuple of {len(self._keys)} values or "
            f"a dict with {', '.join(self._keys)}, got {returned!r:.200}."
        )


class Transformed(_Computed):
    """New columns by a function of one example."""

    def _computed(self, columns: Sequence[Any]) -> list[Any]:
        return [self.dataset._call(self._function, values) for values in zip(*columns, strict=True)]

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Computed rows, as lists."""
        rows = list(map(self._values, self._returned(indices)))
        wanted = range(len(self._keys)) if key_indices is None else key_indices
        return tuple([row[i] for row in rows] for i in wanted)


class BatchTransformed(_Computed):
    """New columns by a function of columns."""

    what = "transform_batch"

    def _computed(self, columns: Sequence[Any]) -> list[Any]:
        return [self.dataset._call(self._function, columns)]

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Computed columns, as the function returned them."""
        (returned,) = self._returned(indices)
        columns = self._values(returned)
        count = len(self) if indices is None else len(rows_of(indices, len(self)))
        lengths = [len(x) if isinstance(x, Sized) else type(x).__name__ for x in columns]
        if set(lengths) - {count}:
            raise ValueError(
                f"{self.what}: expected the function to return columns of {count} rows, as many as "
                f"it was given, got {lengths}."
            )
        wanted = range(len(self._keys)) if key_indices is None else key_indices
        return tuple([columns[i] for i in wanted])
