"""`plugrad check`: what an author should look at before a plugin is published."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core import registry
from core.errors import CoreError
from core.registry.records import canonical
from core.registry.wording import failure
from core.show.report import Report
from plugrad.commands.doctor import Finding, report_of


class CheckError(CoreError, ValueError):
    """There is no plugin to check."""


def check(path: str | None) -> Report:
    """Run every check on the distribution in a folder; the status is 1 where there is a problem."""
    root = Path(path or ".").resolve()
    project = _project(root)
    steps = (_entry_points, _names, _tests, _lint, _types, _wheel)
    return report_of([finding for step in steps for finding in step(root, project)])


def _project(root: Path) -> dict[str, Any]:
    try:
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
        project: dict[str, Any] = tomllib.loads(text)["project"]
    except (OSError, KeyError, ValueError) as error:
        raise CheckError(
            f"expected a pyproject.toml with a [project] in {root}: {error!r}. "
            "`plugrad new NAME` writes one."
        ) from None
    return project


def _entry_points(root: Path, project: dict[str, Any]) -> Iterator[Finding]:
    """The entry points are there, and what they name is installed and loads."""
    named = project.get("entry-points", {}).get("plugrad", {})
    if not named:
        text = '[project.entry-points.plugrad] is missing: NAME = "your_package"'
        yield Finding("entry points", "problem", text)
    found = {plugin.name: plugin for plugin in _plugins(project)}
    for name in named:
        plugin = found.get(name)
        if plugin is None:
            text = f"{name!r} is not installed here: python -m pip install -e {root}"
            yield Finding("entry points", "problem", text)
        elif plugin.state == "failed":
            yield Finding("entry points", "problem", failure(plugin))
        else:
            yield Finding("entry points", "ok", f"{name!r} is {plugin.state}")


def _plugins(project: dict[str, Any]) -> list[registry.Plugin]:
    """The plugins of the distribution: others may have entry points of the same names."""
    key = canonical(project.get("name", ""))
    return [plugin for plugin in registry.installed.plugins() if plugin.key == key]


def _names(root: Path, project: dict[str, Any]) -> Iterator[Finding]:
    """Whatever is registered can be imported, and is nobody else's."""
    for plugin in _plugins(project):
        for claim in plugin.claims:
            what = f"{claim.kind}.{claim.name}"
            for other in registry.catalogue(claim.kind).claims(claim.name):
                if other.plugin.bundled:
                    yield Finding("names", "note", f"{what} is hidden by the bundled name")
                elif other.plugin.key != plugin.key:
                    text = f"{what} is given by {other.plugin} too: choose another name"
                    yield Finding("names", "problem", text)
            try:
                value = claim.resolve()
            except Exception as error:
                yield Finding("names", "problem", f"{what}: {error}")
                continue
            if not (getattr(value, "__doc__", None) or "").strip():
                yield Finding("names", "problem", f"{what} has no docstring")
            else:
                yield Finding("names", "ok", what)


def _tests(root: Path, project: dict[str, Any]) -> Iterator[Finding]:
    """The plugin's own tests pass."""
    yield _run("tests", "pytest", root, "-q", "-p", "no:cacheprovider")


def _lint(root: Path, project: dict[str, Any]) -> Iterator[Finding]:
    """Lint and format."""
    yield _run("lint", "ruff", root, "check", "--no-cache", ".")
    yield _run("format", "ruff", root, "format", "--no-cache", "--check", ".")


def _types(root: Path, project: dict[str, Any]) -> Iterator[Finding]:
    """Types, as the project's own settings ask for them."""
    settings = [root / name for name in ("mypy.ini", ".mypy.ini", "setup.cfg")]
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    if "mypy" in tomllib.loads(text).get("tool", {}) or any(file.exists() for file in settings):
        yield _run("types", "mypy", root)
    else:
        yield Finding("types", "note", 'not run: say under [tool.mypy] packages = ["your_package"]')


def _run(name: str, module: str, root: Path, *arguments: str) -> Finding:
    if importlib.util.find_spec(module) is None:
        return Finding(name, "note", f"not run: python -m pip install {module}")
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip().splitlines() or [f"status {done.returncode}"]
    if done.returncode:
        return Finding(name, "problem", "\n".join([f"{module} failed", *said[-20:]]))
    return Finding(name, "ok", said[-1])


def _wheel(root: Path, project: dict[str, Any]) -> Iterator[Finding]:
    """A wheel and a source distribution can be built, and hold what they should."""
    if importlib.util.find_spec("build") is None:
        yield Finding("wheel", "note", "not built: python -m pip install build")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, str(root)],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip().splitlines()
            yield Finding("wheel", "problem", "\n".join(["it cannot be built", *said[-10:]]))
            return
        (wheel,) = Path(folder).glob("*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        (source,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(source) as archive:
            sources = archive.getnames()
        yield Finding("wheel", "ok", f"{wheel.name}, {len(names)} files")
        for needed, why in (
            ("entry_points.txt", "without entry points nobody finds the plugin"),
            ("LICENSE", 'add license-files = ["LICENSE"] to [project]'),
            ("py.typed", "without it type checkers do not read the package's types"),
        ):
            there = any([name.rpartition("/")[2].startswith(needed) for name in names])
            state, text = ("ok", "") if there else ("problem", f" is missing: {why}")
            yield Finding("wheel", state, needed + text)
        if not any(["/tests/" in name for name in sources]):
            yield Finding("wheel", "note", "the source distribution has no tests")
