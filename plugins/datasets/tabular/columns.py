"""Tables made of arrays, lists and functions."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from itertools import count
from typing import Any

from core.errors.kinds import checked
from plugins.datasets.tabular.frames import columns_of, values_of
from plugins.datasets.tabular.tabular_dataset import Keys, Mode, Rows, TabularDataset
from plugins.datasets.tabular.views import Joined

_unnamed = count()


class Column(TabularDataset):
    """A table of one column: an array, a list, anything with a length and indices."""

    def __init__(self, key: str, values: Any) -> None:
        self._key = key
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @property
    def keys(self) -> tuple[str, ...]:
        """The name of the column."""
        return (self._key,)

    @property
    def mode(self) -> Mode:
        """None: the examples are the values."""
        return None

    def get_examples(self, indices: Rows, key_indices: Keys) -> tuple[Any, ...]:
        """Some of the values: an array of an array, a list of anything else."""
        column = self._values if indices is None else self._some(indices)
        return (column,) * (1 if key_indices is None else len(key_indices))

    def _some(self, indices: slice | list[int]) -> Any:
        if isinstance(indices, slice) or hasattr(self._values, "__dlpack__"):
            return self._values[indices]
        return [self._values[i] for i in indices]


@checked
def from_data(data: Any, *, size: int | None = None) -> TabularDataset:
    """A table of what `data` holds: a tuple or a dict of columns, or one column.

    A column is an array, a list or another dataset; `(name, column)` gives it a name, as does a
    dict. A function of the position, in place of the values, computes one when it is asked for:
    `(name, function)`, or `((name, name), function)` for several columns at once, which it returns
    as a tuple or a dict. `size` is the number of rows where there are functions alone.

    Columns of pandas and Arrow are arrays without a copy (truth values of Arrow, and several
    chunks, with one), their text a list; a DataFrame or a table has all its columns, by name.
    Raises ValueError where columns differ in length, names repeat, or a function has no name, and
    where values of pandas or Arrow are missing, or are no numbers, truth values or text.

    >>> table = from_data((("x", [1, 2, 3]), ("square", lambda i: (i + 1) ** 2)))
    >>> table[1], table.fetch()
    ((2, 4), ([1, 2, 3], [1, 4, 9]))
    >>> from_data({"x": [1, 2], ("y", "z"): lambda i: (i, -i)})[1]
    {'x': 2, 'y': 1, 'z': -1}
    """
    data = columns_of(data)
    if isinstance(data, dict):
        return Joined(*_columns(data.items(), size)).asdict()
    if isinstance(data, tuple) and not _is_named(data):
        return Joined(*_columns([_named(column) for column in data], size)).astuple()
    (only,) = _columns([_named(data)], size)
    return only


def _is_named(data: Any) -> bool:
    """Whether `x` is a pair of a name, or a tuple of names, and a column."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    names = data[0] if isinstance(data[0], tuple) else (data[0],)
    return bool(names) and all([isinstance(name, str) for name in names])


def _named(column: Any) -> tuple[Any, Any]:
    if _is_named(column):
        return column[0], column[1]
    if callable(column) and not isinstance(column, Sized):
        raise ValueError(
            "from_data: expected a name for a function: (name, function), or for several columns "
            "((name, name), function)."
        )
    return f"_{next(_unnamed)}", column


def _columns(named: Iterable[tuple[Any, Any]], size: int | None) -> list[TabularDataset]:
    pairs = [(key, values_of(str(key), column)) for key, column in named]
    for key, column in pairs:
        if not isinstance(column, Sized) and not callable(column):
            raise TypeError(
                f"from_data: expected an array, a list or a function as the column {key!r}, got "
                f"{column!r:.60}. Make a list of what can be read once."
            )
    lengths = {len(column) for _, column in pairs if isinstance(column, Sized)}
    lengths |= set() if size is None else {size}
    if len(lengths) != 1:
        wrong = f"got {sorted(lengths)}" if lengths else "there are functions alone: give size=..."
        raise ValueError(f"from_data: expected columns of one length; {wrong}.")
    return [_column(key, column, *lengths) for key, column in pairs]


def _column(key: Any, column: Any, length: int) -> TabularDataset:
    if isinstance(column, Sized):
        return Column(key, column)
    return Column("index", range(length)).transform(key, column)
