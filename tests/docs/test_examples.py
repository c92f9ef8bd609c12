"""Each example as people run it: a process of its own, few steps, resumed, held to a figure."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))
OPTIONS = {"--backend", "--out", "--resume", "--seed", "--check"}


def finish(path, *arguments):
    command = [sys.executable, str(path), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def names(path):
    return path.stem


@pytest.mark.parametrize("path", EXAMPLES, ids=names)
def test_help_shows_the_options_that_all_have(path):
    done = finish(path, "--help")
    assert done.returncode == 0 and not done.stderr
    known = set(re.findall(r"--[a-z]+", done.stdout))
    assert known >= OPTIONS and known & {"--epoch", "--iterations"}
    assert re.search(r"fail\s+(above|below)", done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=names)
def test_it_runs_goes_on_and_is_held_to_a_figure(path, tmp_path):
    shown = finish(path, "--help").stdout
    steps = "--epoch" if "--epoch" in shown else "--iterations"
    unreachable = 1e9 if re.search(r"fail\s+below", shown) else -1e9
    first = finish(path, "--out", tmp_path, steps, 1)
    assert first.returncode == 0, first.stderr
    assert (tmp_path / "log").exists()

    second = finish(path, "--out", tmp_path, steps, 2, "--resume", f"--check={unreachable}")
    assert second.returncode == 1, second.stderr
    assert "Resumed from" in second.stderr
    assert re.match(rf"{path.stem}: [Ee]xpected .*at (most|least) ", second.stderr.splitlines()[-1])


def test_the_page_lists_them_all():
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\| \[`[^`]+`\]\(\.\./examples/([^)]+)\)", page, re.M)
    assert sorted(linked) == sorted(str(path.relative_to(ROOT / "examples")) for path in EXAMPLES)
