"""`plugrad new` writes distributions that pass their own tests, lints and builds at once."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.commands.main import main
from plugrad.commands.new import KINDS_OF_PLUGINS, NewError, _Words, new

ROOT = Path(__file__).parents[2]
OF_THIS_RUN = ("PLUGRAD_DISABLE_PLUGINS", "PYTEST_ADDOPTS")


def run(*command: str, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k not in OF_THIS_RUN} | environment,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


def test_there_is_a_template_for_every_kind_that_has_names() -> None:
    from core.registry.kinds import FACADES

    assert {f"{kind}s" for kind in KINDS_OF_PLUGINS} == {*FACADES, "backends"}


@given(st.from_regex(r"(plugrad-)?[a-z][a-z0-9]{1,5}([-_][a-z0-9]{1,4}){0,2}", fullmatch=True))
def test_what_is_written_is_python_under_any_name(name: str) -> None:
    words = _Words(name)
    for path in (ROOT / "plugrad" / "templates").rglob("*.py"):
        template = path.read_text(encoding="utf-8")
        text = words.put(template)
        ast.parse(text)
        assert text.lower().count("anything") == template.lower().count("anything")
    assert words.camel.isidentifier()
    assert words.snake.isidentifier()


def test_what_checks_need_to_build_is_installed_with_them(tmp_path: Path) -> None:
    """`plugrad check` builds without isolation, for there may be no network."""
    new("swoosh", ["function"], str(tmp_path / "made"))
    project = tomllib.loads((tmp_path / "made" / "pyproject.toml").read_text("utf-8"))
    tests = project["project"]["optional-dependencies"]["test"]
    assert {"build", *project["build-system"]["requires"]} <= set(tests)


@pytest.mark.parametrize(
    "name", ["", "1st", "a b", "swöosh", "a--b", "../up", "class", "plugrad-", "none", "of"]
)
def test_names_that_are_none_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(NewError, match="Choose another|expected a name"):
        new(name, ["function"], str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["ab", "fastfourier", "fast-fourier-transform"])
def test_longer_names_pass_the_lint_too(name: str, tmp_path: Path) -> None:
    """A name of eight letters made a line of 101 that the formatter does not break."""
    new(name, KINDS_OF_PLUGINS, str(tmp_path / "made"))
    for what in (["check"], ["format", "--check"]):
        run(sys.executable, "-m", "ruff", *what, "--no-cache", ".", folder=tmp_path / "made")


def test_names_that_are_taken_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NewError, match=r"core.functions.relu is there already, from plugrad"):
        new("relu", ["link", "function"], str(tmp_path / "made"))
    with pytest.raises(NewError, match=r"expected .* not to exist"):
        new("swoosh", ["function"], str(tmp_path))


@pytest.mark.parametrize(
    ("kind", "name"),
    [("function", "real"), ("function", "variable"), ("link", "core"), ("dataset", "np")],
)
def test_names_that_a_template_uses_are_refused(kind: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(NewError, match=f"has a meaning in what is written for a {kind}"):
        new(name, [kind], str(tmp_path / "made"))


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not main(["new", "swoosh", "--output", str(tmp_path / "swoosh")])
    said = capsys.readouterr().out
    assert "plugrad_swoosh/function.py" in said
    assert "plugrad check" in said
    for text in (None, b"not toml = =", b"[tool.x]", b"\xff"):
        if text is not None:
            (tmp_path / "pyproject.toml").write_bytes(text)
        assert main(["check", str(tmp_path)]) == 2
        assert "expected a pyproject.toml" in capsys.readouterr().err


def installed(target: Path, *sources: Path) -> dict[str, str]:
    """Install without dependencies, which are those of the tests; how they are found then."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    run(*pip, "--target", str(target), *map(str, sources), folder=target.parent)
    return {"PYTHONPATH": os.pathsep.join([str(target), str(ROOT)])}


@pytest.mark.slow
def test_each_kind_is_built_installed_and_proved(tmp_path: Path) -> None:
    """Each in a distribution of its own; one pip and one pytest see to all of them."""
    sources = {kind: tmp_path / f"made {kind}" for kind in KINDS_OF_PLUGINS}
    for kind, source in sources.items():
        new(f"wo-{kind}", [kind], str(source))
    found = installed(tmp_path / "site", *sources.values())
    for kind, source in sources.items():
        (source / "tests").rename(tmp_path / kind)
    pytest_ = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib"]
    said = run(*pytest_, "-v", *KINDS_OF_PLUGINS, folder=tmp_path, **found)
    proved = set(re.findall(r"^(\w+)/\S+::.* PASSED", said, re.M))
    assert proved == {*KINDS_OF_PLUGINS}, said


@pytest.mark.slow
def test_all_kinds_at_once_pass_the_author_s_checks(tmp_path: Path) -> None:
    source = tmp_path / "made"
    new("swoosh", KINDS_OF_PLUGINS, str(source))
    found = installed(tmp_path / "site", source)
    said = run(sys.executable, "-m", "plugrad", "check", folder=source, **found)
    assert "0 problems found." in said
    for line in ("ok  lint", "ok  format", "ok  types", "ok  tests", "ok  wheel: LICENSE"):
        assert line in said
