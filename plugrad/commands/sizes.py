"""How much code there is: lines without comments, docstrings and blank ones."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

READING_PATH = (
    "core/graph/variable.py",
    "core/graph/variable_node.py",
    "core/graph/graph_node.py",
    "core/ops/operation.py",
    "core/ops/function_node.py",
    "core/ops/declaration.py",
    "core/ops/specialize.py",
    "core/ops/dispatch.py",
    "core/graph/walk.py",
)
"""What a newcomer reads to know how a call becomes a graph, and a graph gradients."""

ENGINE = ("core/arrays", "core/graph", "core/ops")

_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def lines_of_code(text: str) -> int:
    r"""The lines of a module that do something; strings that are statements are documentation.

    >>> lines_of_code('"Adds."\n\ndef add(x, y):  # two\n    "Add."\n    return x + y\n')
    2
    """
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found.difference_update(range(value.lineno, (value.end_lineno or 0) + 1))
    return len(found)


def size(places: Iterable[str]) -> int:
    """The lines of code of files, and of all files below folders."""
    roots = [ROOT / place for place in places]
    files = [file for root in roots for file in (root.rglob("*.py") if root.is_dir() else [root])]
    return sum(lines_of_code(file.read_text(encoding="utf-8")) for file in files)


def table() -> str:
    """The sizes as the page on architecture has them, rounded up so that few changes are seen."""
    names = [f"[`{place.rpartition('/')[2]}`](../{place})" for place in READING_PATH]
    rows = (
        (f"what to read first: {', '.join(names)}", READING_PATH, 100),
        ("the engine: `core.arrays`, `core.graph` and `core.ops`", ENGINE, 100),
        ("all of `core`", ("core",), 1000),
    )
    lines = [f"| {what} | {-(-size(places) // step) * step:,} |" for what, places, step in rows]
    return "\n".join(["| | lines of code, at most |", "|---|---|", *lines])
