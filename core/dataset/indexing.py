"""What the index of a dataset may be."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from core.errors.scalars import python_number


def by_position(where: str, dataset: Any) -> Any:
    """The dataset, if it has a length, and examples by their positions.

    Raises TypeError, in the name of `where`, for what can be read once, for a function, and for
    what finds examples by keys or labels, as pandas may: they would be those of other positions.
    """
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        raise TypeError(
            f"{where}: expected a dataset with a length and with examples by index, got a "
            f"{type(dataset).__name__}. Make a list of it, or a core.dataset.DatasetMixin."
        )
    if isinstance(dataset, Mapping) and dataset and 0 not in dataset:
        raise TypeError(
            f"{where}: expected a dataset with examples by index, got a {type(dataset).__name__} "
            f"of {next(iter(dataset))!r:.60}... Of columns, core.datasets.DictDataset(**columns) "
            "is one."
        )
    if not hasattr(dataset, "iloc"):
        return dataset
    if dataset.ndim == 1 and all(map(operator.eq, dataset.index, range(len(dataset)))):
        return dataset
    raise TypeError(
        f"{where}: expected a dataset that has its examples by position, got a "
        f"{type(dataset).__name__}, which has them by label. Give core.datasets.from_data(...) of "
        "it, or its .to_numpy()."
    )


def position(where: str, index: Any, length: int) -> Any:
    """The position from 0 that an integer names, which may count from the end.

    What is no integer is left to the dataset. Raises IndexError, in the name of `where`, for one
    outside of the length: iteration ends there, also where examples are computed.

    >>> position("it", 3, 6), position("it", -1, 6), position("it", "name", 6)
    (3, 5, 'name')
    """
    if not hasattr(index, "__index__"):
        return index
    found = operator.index(index)
    if not -length <= found < length:
        raise IndexError(f"{where}: index {found} is outside of {length} examples.")
    return found + length if found < 0 else found


def positions(where: str, index: Any, length: int) -> list[Any] | range | None:
    """Positions from 0 that a slice, a list or an array of integers names; None for a single one.

    Raises TypeError, in the name of `where`, for a mask of booleans, which would be taken for 0, 1.

    >>> positions("it", slice(1, None, 2), 6), positions("it", [4, -1], 6), positions("it", 3, 6)
    (range(1, 6, 2), [4, 5], None)
    """
    if isinstance(index, int):  # the usual case, and a quick answer
        return None
    if isinstance(index, slice):
        return range(*index.indices(length))
    if getattr(index, "ndim", 0) == 1:
        index = index.tolist()
    if not isinstance(index, list | range):
        return None
    if any([isinstance(python_number(i), bool) for i in index]):  # NumPy's are of another class
        raise TypeError(
            f"{where}: expected integers as indices, got a mask of booleans. "
            "Turn it into positions first."
        )
    return [position(where, i, length) for i in index]
