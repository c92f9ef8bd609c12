"""Tables in notebooks, styled by the notebook itself; and links as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from core.link.tree import cells, heading, summary, total

if TYPE_CHECKING:
    from core.link.link import Link

_LINK_HEAD = ("", "shape", "dtype", "elements")


def link_html(link: Link) -> str:
    """Make a table of all links, parameters and persistent values under `link`, by path."""
    return table(summary(link), [_LINK_HEAD, *_rows(link, "")], "th")


def _rows(link: Link, path: str) -> Iterator[tuple[str, ...]]:
    for name, *rest in cells(link):
        yield (f"{path}/{name}", *rest)
    for name, part in link._shown_parts():
        if part is None:  # a function, which owns nothing
            yield (name, "", "", "")
        else:
            yield (f"{path}/{name}: {heading(part)}", "", "", total(part))
            yield from _rows(part, f"{path}/{name}")


def table(caption: str, rows: Iterable[Iterable[str]], first: str) -> str:
    """A table whose first row has cells of the kind `first`, and whose text keeps its lines.

    Text of several lines, as of arrays, is aligned by spaces: these are as wide as digits there.
    """
    lines = [f'<table><caption style="text-align:left">{escape(caption)}</caption>']
    kind = first
    for row in rows:
        texts = (f'<{kind} style="text-align:left;{_kept(t)}">{escape(t)}' for t in row)
        lines.append(f"<tr>{''.join(f'{text}</{kind}>' for text in texts)}</tr>")
        kind = "td"
    return "\n".join([*lines, "</table>"])


def _kept(text: str) -> str:
    return "white-space:pre" + ";font-family:monospace" * ("\n" in text)
