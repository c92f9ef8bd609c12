"""The records of a log as series of values: one for each name, thinned where there are many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

AXES = ("iteration", "epoch", "elapsed_time")
Point = tuple[float | None, float | None, float | None, float]
"""Iteration, epoch and seconds, as far as they are known, and the value."""


def series(records: Sequence[dict[str, Any]]) -> dict[str, list[Point]]:
    """Name -> its points; what stands in a record beside the axes and is a number.

    >>> series([{"loss": 0.5, "iteration": 10, "note": "text"}])
    {'loss': [(10.0, None, None, 0.5)]}
    """
    found: dict[str, list[Point]] = {}
    for number, record in enumerate(records, 1):
        x, *others = [_axis(record.get(axis)) for axis in AXES]
        if x is None and others[0] is None:
            x = float(number)
        for name, value in record.items():
            measured = _number(value)
            if measured is not None and name not in AXES:
                found.setdefault(name, []).append((x, *others, measured))  # type: ignore[arg-type]
    return found


def texts(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Name -> the last value of what is no number."""
    return {
        name: value
        for record in records
        for name, value in record.items()
        if _number(value) is None and name not in AXES
    }


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return math.copysign(math.inf, value)


def _axis(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and math.isfinite(number) else None


def thinned(points: list[Point], most: int) -> list[Point]:
    """At most `most` (5 or more) of the points, in their order: those that the curve's shape needs.

    Of each stretch the lowest and the highest value are kept, and the first one that is not finite;
    so are the first and the last point.

    >>> points = [(i, None, None, float(i == 70)) for i in range(100)]
    >>> [point[0] for point in thinned(points, 8)]
    [0, 50, 70, 99]
    """
    if len(points) <= most:
        return points
    count = (most - 2) // 3
    kept = {0, len(points) - 1}
    for bucket in range(count):
        stretch = range(bucket * len(points) // count, (bucket + 1) * len(points) // count)
        finite = [i for i in stretch if math.isfinite(points[i][3])]
        if finite:
            kept.add(min(finite, key=lambda i: points[i][3]))
            kept.add(max(finite, key=lambda i: points[i][3]))
        if len(finite) < len(stretch):
            kept.add(next(i for i in stretch if not math.isfinite(points[i][3])))
    return [points[i] for i in sorted(kept)]
