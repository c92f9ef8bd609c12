"""How variables show themselves in notebooks: tables, styled by the notebook itself."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.graph.variable import Variable


def variable_html(variable: Variable) -> str:
    """A table of the array, in NumPy's look, and of the gradient where there is one."""
    name = f"variable {variable.name}" if variable.name else "variable"
    if variable.array is None:
        return table(f"{name}, uninitialized", [], "th")
    shape = ", ".join(map(str, variable.shape))
    dtype = variable.backend.dtype_name(variable.dtype)
    arrays = {"array": variable.array, "grad": variable.grad}
    rows = [
        (title, str(variable.backend.to_host(array)))
        for title, array in arrays.items()
        if array is not None
    ]
    return table(f"{name}: ({shape}) {dtype} on {variable.device}", rows, "td")


def table(caption: str, rows: Iterable[Iterable[str]], first: str) -> str:
    """A table whose first row has cells of the kind `first`, and whose text keeps its lines."""
    lines = [f'<table><caption style="text-align:left">{escape(caption)}</caption>']
    kind = first
    for row in rows:
        texts = (f'<{kind} style="text-align:left;white-space:pre">{escape(t)}' for t in row)
        lines.append(f"<tr>{''.join(f'{text}</{kind}>' for text in texts)}</tr>")
        kind = "td"
    return "\n".join([*lines, "</table>"])
