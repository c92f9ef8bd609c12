"""The base of datasets of columns, and everything that can be made of one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from core.dataset import DatasetMixin, concat_examples

if TYPE_CHECKING:
    from plugins.datasets.tabular.slices import Slicer

Mode: TypeAlias = type[tuple[Any, ...]] | type[dict[str, Any]] | None
Rows: TypeAlias = slice | list[int] | None
Keys: TypeAlias = Sequence[int] | None


class TabularDataset(DatasetMixin):
    """A dataset that is a table: rows are examples, columns have the names `keys`.

    An example is a tuple of the columns' values, a dict of them, or the value of the one column:
    `mode` says which (tuple, dict or None). A subclass defines `__len__`, `keys`, `mode` and
    `get_examples`; `core.datasets.from_data` makes one of arrays, lists and functions.

    >>> from core.datasets import from_data
    >>> table = from_data({"x": [1, 2, 3], "t": [0, 1, 0]})
    >>> table[1], table.slice[1:, ("t",)].fetch(), len(table.concat(table))
    ({'x': 2, 't': 1}, {'t': [1, 0]}, 6)
    """

    @property
    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    @abstractmethod
    def mode(self) -> Mode:
        """What an example is: tuple, dict, or None for the value of the only column."""

    @abstractmethod
    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Some rows of some columns: a tuple of columns, each an array or a list.

        `indices` is a slice or a list of positions; `key_indices` are positions in `keys`. None
        means all of them.
        """

    def get_example(self, i: int) -> Any:
        """The example at position `i`, as `mode` says."""
        if not hasattr(i, "__index__"):
            raise TypeError(
                f"{type(self).__name__}: expected the positions of examples as indices, got "
                f"{i!r:.60}. dataset.slice[:, key] has a column, dataset.slice[rows, keys] a part."
            )
        return self._in_mode([column[0] for column in self.get_examples([i], None)])

    def fetch(self) -> Any:
        """All rows: columns instead of values, as `mode` says."""
        return self._in_mode(self.get_examples(None, None))

    def convert(self, data: Any) -> Any:
        """What `fetch` gave, as arrays; views of a dataset convert as the dataset does."""
        if isinstance(data, tuple):
            return tuple(map(_array, data))
        if isinstance(data, dict):
            return {key: _array(column) for key, column in data.items()}
        return _array(data)

    def _in_mode(self, values: Sequence[Any]) -> Any:
        if self.mode is tuple:
            return tuple(values)
        if self.mode is dict:
            return dict(zip(self.keys, values, strict=True))
        (value,) = values
        return value

    def _call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """The function of an example, or of columns, passed as `mode` says."""
        if self.mode is dict:
            return function(**dict(zip(self.keys, values, strict=True)))
        return function(*values)

    # -- views ---------------------------------------------------------------------------------

    @property
    def slice(self) -> Slicer:
        """Part of the table: `dataset.slice[rows]`, `dataset.slice[rows, keys]`.

        Rows are a slice, a list of positions or a mask of booleans. Keys are a tuple of names or
        positions, or one of them alone, whose values are then the examples.
        """
        from plugins.datasets.tabular.slices import Slicer

        return Slicer(self)

    def astuple(self) -> TabularDataset:
        """The same table with tuples as examples."""
        from plugins.datasets.tabular.views import InMode

        return InMode(self, tuple)

    def asdict(self) -> TabularDataset:
        """The same table with dicts as examples."""
        from plugins.datasets.tabular.views import InMode

        return InMode(self, dict)

    def concat(self, *datasets: TabularDataset) -> TabularDataset:
        """The rows of this one, then those of the others, which must have the same keys."""
        from plugins.datasets.tabular.views import Concatenated

        return Concatenated(self, *datasets)

    def join(self, *datasets: TabularDataset) -> TabularDataset:
        """The columns of this one and of the others, which must have as many rows, other keys."""
        from plugins.datasets.tabular.views import Joined

        return Joined(self, *datasets)

    def transform(
        self, keys: str | tuple[str, ...], transform: Callable[..., Any]
    ) -> TabularDataset:
        """A table of new columns `keys`, whose rows `transform` makes of each example.

        It gets the values of an example as arguments (named ones for dicts), and gives a tuple or
        a dict of new values; one value where `keys` is one name.
        """
        from plugins.datasets.tabular.transforms import Transformed

        return Transformed(self, keys, transform)

    def transform_batch(
        self, keys: str | tuple[str, ...], transform_batch: Callable[..., Any]
    ) -> TabularDataset:
        """As `transform`, with a function from columns of several rows to new columns."""
        from plugins.datasets.tabular.transforms import BatchTransformed

        return BatchTransformed(self, keys, transform_batch)

    def with_converter(self, converter: Callable[..., Any]) -> TabularDataset:
        """The same table; `convert` calls `converter` with its columns (named ones for dicts)."""
        from plugins.datasets.tabular.views import WithConverter

        return WithConverter(self, converter)


def _array(column: Any) -> Any:
    return column if hasattr(column, "__dlpack__") else concat_examples(column)
