"""How many lines the backends in examples/ have, of which docs/backends.md tells."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "backends.md").read_text()
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def lines(path):
    """The lines of code: without comments, docstrings and blank ones."""
    text, found = path.read_text(), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            found.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(found)


def told(name):
    """The numbers of lines in the rows of a distribution and of its kernels."""
    rows = re.search(rf"\| `plugrad-{name}` \|.*\n(\| \| .*\n)?", PAGE).group()
    return [int(n) for n in re.findall(r"(?<=\| )\d+(?= \|)|\d+(?= (?:the|random|CUDA))", rows)]


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_the_lines_are_counted(name):
    package = ROOT / "examples" / f"plugin_{name}" / f"plugrad_{name}"
    count = {p.relative_to(package).as_posix(): lines(p) for p in package.rglob("*.py")}
    kernels = sum(n for path, n in count.items() if path.startswith("kernels/"))
    whole = sum(count.values()) - kernels
    parts = ["arrays.py", "random.py", "namespace.py", "graphs.py"]
    parts = [count[path] for path in parts if path in count]
    assert told(name) == [whole, *parts, *([kernels] if kernels else [])]
