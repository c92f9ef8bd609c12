"""Numbers that say how values are distributed, on any backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core import Link
from core.arrays import backend

SIGMAS = (0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87)
"""The percentages at -3, -2, ..., 3 standard deviations of a normal distribution."""


def flat(array: Any) -> Any:
    """The elements in one row, with at least the digits of float32."""
    owner = backend.of(array)
    name = owner.dtype_name(array.dtype)
    wide = array if name in ("float32", "float64") else owner.xp.astype(array, owner.xp.float32)
    return owner.xp.reshape(wide, (-1,))


def percentiles(x: Any, percentages: Sequence[float]) -> Any:
    """The values of the row `x` that so many percent lie below, linearly between two neighbours.

    All are NaN where an element is.

    >>> import numpy as np
    >>> percentiles(np.array([4.0, 1.0, 2.0]), (0, 50, 75, 100)).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    xp = backend.of(x).xp
    positions = [q / 100 * (x.shape[0] - 1) for q in percentages]
    ordered = _ordered(x, positions)
    found = xp.stack([_between(ordered, position) for position in positions])
    return xp.where(xp.any(xp.isnan(x)), xp.full_like(found, float("nan")), found)


def _ordered(x: Any, positions: Iterable[float]) -> Any:
    """The elements of x, those around the positions where sorting has them."""
    home = backend.of(x)
    if home is not backend.host():
        return home.xp.sort(x)
    places = {place for p in positions for place in (int(p), int(p) + 1)}
    return home.xp.partition(x, sorted(places - {x.shape[0]}))  # half of the time


def _between(ordered: Any, position: float) -> Any:
    low = int(position)
    share = position - low
    if share == 0:
        return ordered[low]
    return ordered[low] + (ordered[low + 1] - ordered[low]) * share


def check_names(who: str, links: Iterable[Link]) -> None:
    """Raise ValueError where parameters of two links would be told under one name.

    And TypeError for what is no link.
    """
    known: dict[str, Any] = {}
    for link in links:
        if not isinstance(link, Link):
            raise TypeError(
                f"{who}: expected links, such as a model, got {link!r:.60}. An optimizer has a "
                "target after setup(model)."
            )
        for path, parameter in link.namedparams():
            name = f"{link.name or ''}{path}".lstrip("/")
            if known.setdefault(name, parameter) is not parameter:
                raise ValueError(
                    f"{who}: expected links whose parameters have names of their own, got two that "
                    f"have a {name!r}. Add an extension for each, or give one link that has both."
                )
