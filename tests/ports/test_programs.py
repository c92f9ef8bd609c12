"""Programs as they are written for Chainer: here nothing but their imports has changed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
IMPORT = re.compile(r"(import core as chainer|import core\.\w+ as |from core(\.\w+)? import )")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_it_runs_without_a_warning(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", program, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_only_its_imports_know_of_plugrad(program):
    named = [line for line in program.read_text().splitlines() if re.search(r"\bcore\b", line)]
    assert named and all(IMPORT.match(line) for line in named)
