"""Docstrings are plain text with code between backticks: signs that mean more are escaped."""

from __future__ import annotations

import re
from typing import Any

SPAN = re.compile(r"(:math:`[^`]*`|``[^`]*``|`[^`]*`)")
ARGUMENT = re.compile(r"(\s+)(\*{1,2}\w+)(:.*)")


def escaped(lines: list[str]) -> list[str]:
    """The lines as reStructuredText, code and examples left as they are."""
    found, code = [], False
    for line in lines:
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if code:
            found.append(line)
            continue
        match = ARGUMENT.fullmatch(line)
        head, line = (match[1] + match[2], match[3]) if match else ("", line)
        parts = SPAN.split(line)
        parts[::2] = [re.sub(r"([*|]|(?<=\w)_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
        found.append(head + "".join(parts))
    return found


def as_fields(lines: list[str]) -> list[str]:
    """The lines with what is returned as a field: sections take words before a colon for a type.

    >>> as_fields(["Returns:", "    Two arrays: means and deviations,", "    of `x`.", "", "More."])
    [':returns: Two arrays: means and deviations,', '    of `x`.', '', 'More.']
    """
    found: list[str] = []
    for line in lines:
        if found and found[-1] == ":returns:":
            found[-1] += f" {line.lstrip()}"
        else:
            found.append(":returns:" if line == "Returns:" else line)
    return found


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Before the sections are read."""
    lines[:] = as_fields(escaped(lines))


def setup(app: Any) -> dict[str, bool]:
    """Listen to docstrings."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
