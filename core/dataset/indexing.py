"""What the index of a dataset may be."""

from __future__ import annotations

from typing import Any


def positions(where: str, index: Any, length: int) -> list[Any] | range | None:
    """The positions that a slice, a list or an array of integers names; None for a single one.

    Raises TypeError, in the name of `where`, for a mask of booleans, which would be taken for 0, 1.

    >>> positions("it", slice(1, None, 2), 6), positions("it", [4, -1], 6), positions("it", 3, 6)
    (range(1, 6, 2), [4, -1], None)
    """
    if isinstance(index, int):  # the usual case, and a quick answer
        return None
    if isinstance(index, slice):
        return range(*index.indices(length))
    if getattr(index, "ndim", 0) == 1:
        index = index.tolist()
    if not isinstance(index, list | range):
        return None
    if any([isinstance(i, bool) for i in index]):
        raise TypeError(
            f"{where}: expected integers as indices, got a mask of booleans. "
            "Turn it into positions first."
        )
    return index
