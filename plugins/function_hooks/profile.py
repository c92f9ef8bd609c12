"""What a profile consists of, and the table that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from core.errors import nearest

Spec = tuple[tuple[int, ...], str]
"""Shape and dtype of an input."""

GROUPS = ("function", "phase", "link", "inputs", "thread")


class Call(NamedTuple):
    """One forward or backward of a function, or one call of a link; times in nanoseconds.

    `thread` counts from 0, `own` leaves out the calls that were made inside. `memory` is the change
    of the bytes in use, None where nobody asked for it.
    """

    function: str
    phase: str
    link: str
    inputs: tuple[Spec, ...]
    thread: int
    start: int
    total: int
    own: int
    memory: int | None = None


class Entry(NamedTuple):
    """Calls that have the values of `group` in common; times in seconds, `share` a fraction."""

    group: tuple[Any, ...]
    calls: int
    total: float
    own: float
    mean: float
    share: float
    memory: int | None


def summarize(calls: Iterable[Call], by: Sequence[str]) -> list[Entry]:
    """One entry for each combination of the fields `by`, in the order of first calls."""
    for field in by:
        if field not in GROUPS:
            raise ValueError(
                f"ProfilerHook.summary: expected fields of {', '.join(GROUPS)}, got {field!r}."
                + nearest(str(field), GROUPS)
            )
    groups: dict[tuple[Any, ...], list[Call]] = {}
    for call in calls:
        groups.setdefault(tuple(getattr(call, field) for field in by), []).append(call)
    whole = sum(call.own for found in groups.values() for call in found)
    return [_entry(group, found, whole) for group, found in groups.items()]


def _entry(group: tuple[Any, ...], calls: list[Call], whole: int) -> Entry:
    total, own = (sum(getattr(call, field) for call in calls) for field in ("total", "own"))
    measured = [call.memory for call in calls if call.memory is not None]
    return Entry(
        group,
        len(calls),
        total * 1e-9,
        own * 1e-9,
        total * 1e-9 / len(calls),
        own / whole if whole else 0.0,
        sum(measured) if measured else None,
    )


_ORDERS: dict[str, Callable[[Entry], Any]] = {
    "own": lambda entry: -entry.own,
    "total": lambda entry: -entry.total,
    "mean": lambda entry: -entry.mean,
    "calls": lambda entry: -entry.calls,
    "memory": lambda entry: -(entry.memory or 0),
    "name": lambda entry: tuple(map(str, entry.group)),
    "first": lambda entry: 0,
}


def ordered(entries: Iterable[Entry], sort_by: str) -> list[Entry]:
    """The entries by one of own, total, mean, calls, memory (the largest first), name, first."""
    if sort_by not in _ORDERS:
        raise ValueError(
            f"ProfilerHook.print_report: expected sort_by to be one of {', '.join(_ORDERS)}, "
            f"got {sort_by!r}.{nearest(str(sort_by), _ORDERS)}"
        )
    return sorted(entries, key=_ORDERS[sort_by])


def spelled(field: str, value: Any) -> str:
    """A value of a field of `GROUPS` as the table shows it: `(2, 3) (3,)` for inputs."""
    if field == "inputs":
        return " ".join(str(shape) for shape, _ in value)
    return str(value)
