"""What autodoc reads: signatures, and docstrings, whose plain text has code between backticks."""

from __future__ import annotations

import inspect
import re
from typing import Any

SPAN = re.compile(r"(:math:`[^`]*`|``[^`]*``|`[^`]*`)")
ARGUMENT = re.compile(r"(\s+)(\*{1,2}\w+)(:.*)")


def escaped(lines: list[str]) -> list[str]:
    r"""The lines as reStructuredText, code, examples and formulas left as they are.

    >>> escaped(["W_ and", ".. math::", "    W_{xf} |x|", "a * b"])
    ['W\\_ and', '.. math::', '    W_{xf} |x|', 'a \\* b']
    """
    found, code = [], False
    formula: int | None = None  # how far in the directive of a formula stands
    for line in lines:
        start = len(line) - len(line.lstrip())
        if formula is not None and line.strip() and start <= formula:
            formula = None
        if line.lstrip().startswith(".. math::"):
            formula = start
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if code or formula is not None:
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


def signature(
    app: Any, what: str, name: str, thing: Any, options: Any, found: str | None, returned: Any
) -> tuple[str, None] | None:
    """The arguments of a class as Python tells them; autodoc takes those of any `__new__` first."""
    from sphinx.util.inspect import stringify_signature

    if what != "class" or found is None:
        return None
    told = inspect.signature(thing)
    return stringify_signature(told, show_annotation=False, show_return_annotation=False), None


def setup(app: Any) -> dict[str, bool]:
    """Listen to docstrings and signatures."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
