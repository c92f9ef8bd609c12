"""The wheel holds the parts of the page, which are no Python files."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_wheel_has_the_page(tmp_path):
    pytest.importorskip("hatchling", reason="needs plugrad[test]")
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        held = set(content.namelist())
    parts = [path for path in (ROOT / "plugrad" / "runs" / "web").iterdir() if path.is_file()]
    assert len(parts) > 5
    assert {str(path.relative_to(ROOT)) for path in parts} <= held
