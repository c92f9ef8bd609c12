"""Two figures for each equation of a program, summed by a name, and shown as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

First = TypeVar("First", int, float)


def totals(named: Iterable[tuple[str, First, int]]) -> dict[str, tuple[First, int]]:
    """Sum both figures of what goes by the same name.

    >>> totals([("tanh", 2, 1), ("add", 3, 1), ("tanh", 4, 1)])
    {'tanh': (6, 2), 'add': (3, 1)}
    """
    found: dict[str, tuple[First, int]] = {}
    for name, first, second in named:
        before = found.get(name)
        found[name] = (first, second) if before is None else (before[0] + first, before[1] + second)
    return found


def table(
    head: Iterable[tuple[str, str, str]],
    parts: Mapping[str, Mapping[str, tuple[float, int]]],
    written: Callable[[Any, int], tuple[str, str]],
) -> str:
    """Rows of a name and two figures in columns: the head, then each part, its largest first."""
    rows = list(head)
    for title, part in parts.items():
        rows.append((f"by {title}", "", ""))
        for name in sorted(part, key=lambda each: part[each], reverse=True):
            rows.append((f"  {name or '(outside)'}", *written(*part[name])))
    widths = [max([len(row[i]) for row in rows]) for i in range(3)]
    lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]
    return "\n".join([line.rstrip() for line in lines])
