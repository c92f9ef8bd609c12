"""How many lines the backends in examples/ have, of which docs/backends.md tells."""

import re
from pathlib import Path

import pytest

from plugrad.commands.sizes import lines_of_code

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "backends.md").read_text()


def told(name):
    """The numbers of lines in the rows of a distribution and of its kernels."""
    rows = re.search(rf"\| `plugrad-{name}` \|.*\n(\| \| .*\n)?", PAGE).group()
    return [int(n) for n in re.findall(r"(?<=\| )\d+(?= \|)|\d+(?= (?:the|random|CUDA))", rows)]


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_the_lines_are_counted(name):
    package = ROOT / "examples" / f"plugin_{name}" / f"plugrad_{name}"
    files = package.rglob("*.py")
    count = {p.relative_to(package).as_posix(): lines_of_code(p.read_text()) for p in files}
    kernels = sum(n for path, n in count.items() if path.startswith("kernels/"))
    whole = sum(count.values()) - kernels
    parts = ["arrays.py", "random.py", "namespace.py", "graphs.py"]
    parts = [count[path] for path in parts if path in count]
    assert told(name) == [whole, *parts, *([kernels] if kernels else [])]
