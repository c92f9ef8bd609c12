"""docs/plugins.md, followed to the letter in a fresh environment."""

import inspect
import re
import shlex
from pathlib import Path

import pytest

from core.registry import hookspecs
from core.registry.kinds import HOOKS, KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "plugins.md").read_text()
REFERENCE = (DOCS / "reference" / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_tutorial_is_true(venv_with, tmp_path):
    venv = venv_with("tutorial")
    follow = {"toml": write, "python": write, "console": type_in, "pycon": converse}
    blocks = BLOCK.findall(PAGE)
    assert {language for language, _ in blocks} == set(follow)
    for language, text in blocks:
        follow[language](venv, tmp_path, text)
    stub = (tmp_path / "typings/core/functions/__init__.pyi").read_text()
    assert stub.count("import mish as mish") == 1


def write(venv, folder, text):
    """A block whose first line names a file is that file."""
    path = folder / text.partition("\n")[0].removeprefix("# ")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def type_in(venv, folder, text):
    """Commands after `$`; what is shown below each is among the lines it prints."""
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        printed = squeeze(venv.run(*shlex.split(command), cwd=folder, **offline))
        for line in shown:
            assert squeeze(line) in printed


def squeeze(text):
    return " ".join(text.split())


def converse(venv, folder, text):
    """A session, with all before it, gives what is shown."""
    session = folder / "session.txt"
    before = session.read_text() if session.exists() else ""
    session.write_text(before + text)
    venv.run("python", "-m", "doctest", session.name, cwd=folder)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_with_its_signature(hook):
    arguments = ", ".join(inspect.signature(getattr(hookspecs, hook)).parameters)
    assert f"| `{hook}({arguments})` | {HOOKS[hook].expected} | " in REFERENCE


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_hook_of_a_kind_says_what_it_takes(kind):
    text = squeeze(inspect.getdoc(getattr(hookspecs, kind.hook)))
    assert text.startswith(f"{kind.meaning}. Return name -> {kind.expected}, or a lazy string")
