"""Every Python snippet of the documents runs, and prints what its comment says."""

import contextlib
import doctest
import io
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import core

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    # Those of plugins.md and kernels.md are files of distributions; backends.md is below.
    if path.name not in ("plugins.md", "backends.md", "kernels.md")
]

REAL = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?|(?<![\w.])[-+]?\d+e[-+]?\d+")


def alike(expected: str, printed: str) -> bool:
    """Whether two texts are the same but for spaces and the last digits of real numbers.

    Those differ from one library of mathematics to the next, and with the digits the spaces.
    """
    texts = [REAL.sub("#", text).split() for text in (expected, printed)]
    numbers = [list(map(float, REAL.findall(text))) for text in (expected, printed)]
    return "".join(texts[0]) == "".join(texts[1]) and all(
        math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) for a, b in zip(*numbers, strict=True)
    )


class Checker(doctest.OutputChecker):
    """Compares what an example prints as `alike` does."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or alike(want, got)


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("array([1.5430806, 1.       ])", "array([1.5430807, 1.       ])", True),
        ("[ 0.5 -0.25]", "[ 0.49999997 -0.25      ]", True),
        ("1e-05", "1.0000001e-05", True),
        ("0.5", "0.51", False),
        ("0.5", "-0.5", False),
        ("Linear1.0: 3", "Linear1.0: 4", False),
        ("variable([3, 4])", "variable([3, 5])", False),
        ("(2, 3)", "(2, 3, 1)", False),
        ("0.5", "half", False),
    ],
)
def test_what_is_taken_for_alike(expected, printed, same):
    assert alike(expected, printed) == same


def snippets(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.S | re.M)


def promised(snippet: str) -> list[str]:
    return [m.group(1) for m in re.finditer(r"^print\(.*\)  # (.*)$", snippet, re.M)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_snippets_run_one_after_the_other(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where trainings leave their results
    scope = {"__name__": "snippet"}
    core.seed(0)
    try:
        for number, snippet in enumerate(snippets(path)):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(snippet, f"{path.name}, snippet {number}", "exec"), scope)
            expected, lines = promised(snippet), printed.getvalue().splitlines()
            if "training.fit(" in snippet and "show=False" not in snippet:
                assert lines[0].split()[:2] == ["epoch", "main/loss"]
                continue
            assert len(lines) == len(expected), lines
            assert all(map(alike, expected, lines)), (expected, lines)
    finally:
        core.seed(None)


def test_the_backend_of_the_page_is_one():
    """In a process of its own: the tests have a backend for the same arrays."""
    code = "".join(snippets(ROOT / "docs" / "backends.md"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert done.stdout.splitlines() == promised(code)


def test_the_readme_shows_the_model_and_the_program_as_they_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "snippet"}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, model, program = [t.rstrip() for t in re.findall(r"```text\n(.*?)```", text, re.S)]
    with contextlib.redirect_stdout(io.StringIO()):
        for snippet in snippets(ROOT / "README.md"):
            exec(snippet.replace("epochs=3", "epochs=1, show=False"), scope)
    assert repr(scope["model"]) == model
    assert str(scope["program"]) == program


def test_the_readme_begins_with_the_two_commands():
    block = re.search(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    first, second = block.splitlines()
    assert re.fullmatch(
        r'python -m pip install -e "\.\[fast,plot\]" && python examples/\S+\.py', first
    )
    assert second == 'python -m pip install -e ".[test]" && python -m pytest'


def test_the_table_of_extras_has_them_all():
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (`.*?) \|", page, re.M)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"`(\w+)`", " ".join(table))) == {*project["optional-dependencies"]}


def modules() -> list[str]:
    files = [f for room in ("core", "plugins", "backends") for f in (ROOT / room).rglob("*.py")]
    names = [".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files]
    return sorted(n.removesuffix(".__init__") for n in names if not n.endswith("__main__"))


@pytest.mark.parametrize("name", modules())
def test_docstrings_run(name):
    module = __import__(name, fromlist=["_"])
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(test)
    assert runner.failures == 0
