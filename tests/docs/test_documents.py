"""Every Python snippet of the documents runs, and prints what its comment says."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

import core

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if path.name != "plugins.md"  # whose snippets are files of a distribution; see tests/plugins
]


def snippets(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.S | re.M)


def promised(snippet: str) -> list[str]:
    return [m.group(1) for m in re.finditer(r"^print\(.*\)  # (.*)$", snippet, re.M)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_snippets_run_one_after_the_other(path):
    scope = {"__name__": "snippet"}
    core.seed(0)
    try:
        for number, snippet in enumerate(snippets(path)):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(snippet, f"{path.name}, snippet {number}", "exec"), scope)
            assert printed.getvalue().splitlines() == promised(snippet)
    finally:
        core.seed(None)


def test_the_readme_shows_the_model_as_it_prints():
    scope = {"__name__": "snippet"}
    shown = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    with contextlib.redirect_stdout(io.StringIO()):
        for snippet in snippets(ROOT / "README.md")[:2]:
            exec(snippet, scope)
    assert repr(scope["model"]) == shown.group(1).rstrip()


def test_the_readme_begins_with_the_two_commands():
    block = re.search(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    first, second = block.splitlines()
    assert re.fullmatch(r'python -m pip install -e "\.\[plot\]" && python examples/\S+\.py', first)
    assert second == 'python -m pip install -e ".[test]" && python -m pytest'


def modules() -> list[str]:
    files = [f for room in ("core", "plugins", "backends") for f in (ROOT / room).rglob("*.py")]
    names = [".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files]
    return sorted(n.removesuffix(".__init__") for n in names if not n.endswith("__main__"))


@pytest.mark.parametrize("name", modules())
def test_docstrings_run(name):
    module = __import__(name, fromlist=["_"])
    failed, _ = doctest.testmod(module, extraglobs={}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
