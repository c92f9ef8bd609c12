"""Plain tables for a terminal."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out rows under a header: the first column to the left, the others to the right.

    >>> print(table(["case", "us"], [["forward", "2.41"], ["all", "12"]]))
    case       us
    -------  ----
    forward  2.41
    all        12
    """
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(w) for cell, w in others)]).rstrip()
