"""Links as text: a tree of links, parameters and persistent values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from core.link.link import Link
    from core.link.parameter import Parameter

# What stands for lines where an encoding has none.
_PLAIN = str.maketrans({"├": "|", "└": "`", "│": "|", "─": "-", "×": "x", "…": "..."})


class Row(NamedTuple):
    """One line of the tree: what stands left, and what is counted on the right."""

    text: str
    total: str


def tree(link: Link) -> str:
    """Return the whole tree under `link` in aligned lines."""
    rows = list(_rows(link, ""))
    width = max((len(row.text) for row in rows), default=0)
    right = max((len(row.total) for row in rows), default=0)
    lines = [f"{row.text:<{width}}  {row.total:>{right}}".rstrip() for row in rows]
    return printable("\n".join([summary(link), *lines]))


def printable(text: str) -> str:
    """The text, drawn in ASCII and with escapes where the standard output lacks its characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def summary(link: Link) -> str:
    """Describe the link in one line: class, settings and number of parameters."""
    known, unknown = _counts(link)
    text = f"{heading(link)}: {known:,} parameter" + "s" * (known != 1)
    return text + (f", {unknown} unsized" if unknown else "")


def heading(link: Link) -> str:
    """The link's class, with the settings that are worth showing."""
    specs = link.printable_specs
    shown = [f"{name}={value!r}" for name, value, default in specs if value != default]
    return f"{type(link).__name__}({', '.join(shown)})" if shown else type(link).__name__


def total(link: Link) -> str:
    """How many elements the parameters under the link have."""
    known, unknown = _counts(link)
    return f"{known:,}" + " + ?" * bool(unknown)


def _rows(link: Link, indent: str) -> Iterator[Row]:
    own = _own(link)
    parts = list(link._shown_parts())
    left = len(own) + len(parts)
    for row in own:
        left -= 1
        yield Row(indent + ("├─ " if left else "└─ ") + row.text, row.total)
    for name, child in parts:
        left -= 1
        head, deeper = ("├─ ", "│  ") if left else ("└─ ", "   ")
        if child is None:
            yield Row(f"{indent}{head}{name}", "")
            continue
        yield Row(f"{indent}{head}{name}: {heading(child)}", total(child))
        yield from _rows(child, indent + deeper)


def _own(link: Link) -> list[Row]:
    """The link's own parameters and persistent values, names and shapes aligned."""
    own = cells(link)
    names, shapes = (max((len(cell[i]) for cell in own), default=0) for i in (0, 1))
    return [
        Row(f"{name:<{names}}  {shape:<{shapes}} {dtype}".rstrip(), count)
        for name, shape, dtype, count in own
    ]


def cells(link: Link) -> list[tuple[str, str, str, str]]:
    """Name, shape, dtype with remarks, and count of what the link itself owns."""
    own = [(name, *_parameter(parameter)) for name, parameter in link._own_params()]
    return own + [(name, *_persistent(link.__dict__[name])) for name in link._persistent]


def _parameter(parameter: Parameter) -> tuple[str, str, str]:
    rule = parameter.update_rule
    frozen = parameter.frozen or (rule is not None and not rule.enabled)
    mark = " frozen" if frozen else ""
    array = parameter.array
    if array is None:
        return "unsized", mark.strip(), "?"
    return str(tuple(array.shape)), _dtype(array) + mark, f"{parameter.size:,}"


def _persistent(value: Any) -> tuple[str, str, str]:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return str(tuple(value.shape)), f"{_dtype(value)} persistent", ""
    return repr(value), "persistent", ""


def _dtype(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def _counts(link: Link) -> tuple[int, int]:
    """Elements of the parameters under `link` that have a size, and how many have none yet."""
    parameters = list(link.params())
    known = [parameter.size for parameter in parameters if parameter.is_initialized]
    return sum(known), len(parameters) - len(known)
