"""A row in the table of kinds is all that a new kind takes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.registry.contract import misfit
from core.registry.kinds import FACADES, KINDS

ROOT = Path(__file__).resolve().parents[2]
ROWS = """_ROWS = (
    Kind("messengers", "core.training.messengers", "core:Link | function", "Ways to talk"),
    Kind("schedules", "core.schedules", "callable", "Rates over time"),
"""
PLUGIN = """
from core import hookimpl

@hookimpl
def register_messengers():
    return {"Ring": "talkers:Ring", "tell": "talkers:tell", "wrong": 3}
"""
TALKERS = "import core\nclass Ring(core.Link):\n    pass\ndef tell():\n    return 'told'\n"
PROGRAM = """
import importlib
from plugrad.commands.main import main
assert main(["stubs"]) == 0
assert main(["stubs", "--check"]) == 0
assert main(["reference", "--output", "pages"]) == 0
importlib.invalidate_caches()
import core
assert "schedules" in dir(core) and core.schedules.__all__ == []
messengers = core.training.messengers
assert "messengers" in dir(core.training) and messengers.__doc__.startswith("Ways to talk")
assert {"Ring", "tell"} <= {*dir(messengers)}
from core.training.messengers import tell
assert tell() == "told" and core.registry.catalogue("messengers").get("tell") is tell
assert issubclass(messengers.of("plugrad-talk").Ring, core.Link)
assert "Return name -> a subclass of core.Link" in core.hookspecs.register_messengers.__doc__
core.plugins.prefer("messengers", "tell", "plugrad-talk")
for name, error in [("tel", "Did you mean 'tell'?"), ("wrong", "core.Link or a function, got 3")]:
    try:
        getattr(messengers, name)
    except AttributeError as caught:
        assert error in str(caught), caught
    else:
        raise AssertionError(name)
assert main(["plugins"]) == 0
"""


@pytest.fixture
def checkout(tmp_path):
    """A copy of the core and the commands with two more rows, and a plugin of the first kind."""
    for package in ("core", "plugrad"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    for package in ("backends", "plugins"):
        (tmp_path / package).symlink_to(ROOT / package)
    table = tmp_path / "core/registry/kinds.py"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("_ROWS = (\n", ROWS), encoding="utf-8")
    (tmp_path / "talk.py").write_text(PLUGIN)
    (tmp_path / "talkers.py").write_text(TALKERS)
    info = tmp_path / "plugrad_talk-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugrad-talk\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[plugrad]\ntalk = talk\n")
    return tmp_path


def test_a_row_is_a_new_kind(checkout):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("PLUGRAD_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=checkout,
        env={**settings, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "messengers: Ring, tell, wrong" in done.stdout
    for package, name in [("core.training", "messengers"), ("core", "schedules")]:
        for_checkers = checkout / package.replace(".", "/") / "__init__.py"
        line = f"    from {package} import {name} as {name}\n"
        assert line in for_checkers.read_text(encoding="utf-8")
    page = (checkout / "pages/README.md").read_text(encoding="utf-8")
    assert "| [Ways to talk](messengers.md) | `register_messengers()` | a subclass" in page


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_takes_is_known(kind):
    assert misfit(kind, object()).startswith(f"expected {KINDS[kind].expected}, got")


def test_a_facade_stands_over_one_kind():
    assert len({*FACADES.values()}) == len(FACADES)
