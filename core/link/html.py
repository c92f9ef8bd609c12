"""Links in notebooks: tables, styled by the notebook itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.graph.html import table
from core.link.tree import cells, summary

if TYPE_CHECKING:
    from core.link.link import Link

_LINK_HEAD = ("", "shape", "dtype", "elements")


def link_html(link: Link) -> str:
    """Make a table of all parameters and persistent values under `link`, by path."""
    rows = [
        (f"{path.rstrip('/')}/{name}", *rest)
        for path, part in link.namedlinks()
        for name, *rest in cells(part)
    ]
    return table(summary(link), [_LINK_HEAD, *rows], "th")
