"""What a command answers: data for `--json`, text for people, and the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Report(NamedTuple):
    """The answer of a command."""

    data: Any
    text: str
    status: int = 0


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows in aligned columns.

    >>> print(table(["name", "state"], [["numpy", "available"], ["cuda", "no device"]]))
    name   state
    numpy  available
    cuda   no device
    """
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
