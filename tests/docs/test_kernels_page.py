"""The kernel of docs/kernels.md, installed as a stranger's: it runs; one that errs is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="needs plugrad[fast]")

ROOT = Path(__file__).parents[2]
FILES = re.findall(
    r"^```python\n# (\S+)\n(.*?)^```", (ROOT / "docs" / "kernels.md").read_text(), re.M | re.S
)
USE = """
import sys, numpy as np, core, core.functions as F
from core.testing import check_op
from plugrad_mish import on_numpy
from plugrad_mish.mish import Mish

x = np.linspace(-30, 30, 20_000, dtype="f")
made = []
loop = on_numpy.loop
on_numpy.loop = lambda: made.append(1) or loop()
y = F.mish(x)
assert made, "the kernel did not run"
exact = x.astype("d") * np.tanh(np.logaddexp(x.astype("d"), 0))
np.testing.assert_allclose(y.array, exact, rtol=2e-6, atol=1e-7)
F.mish(x[:10])
assert len(made) == 1, "small arrays are the formula's"
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The files of the page as an installed distribution."""
    for name, text in FILES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    information = tmp_path / "plugrad_mish-0.1.dist-info"
    information.mkdir()
    head = "Metadata-Version: 2.1\nName: plugrad-mish\nVersion: 0.1\n"
    (information / "METADATA").write_text(head)
    (information / "entry_points.txt").write_text("[plugrad]\nmish = plugrad_mish\n")
    return tmp_path


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PLUGRAD_DISABLE_PLUGINS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), str(ROOT)])
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_the_kernel_of_the_page_runs(installed: Path) -> None:
    done = run(installed, USE)
    assert not done.returncode, done.stderr


def test_a_kernel_that_equals_the_formula_is_proved(installed: Path) -> None:
    path = installed / "plugrad_mish" / "on_numpy.py"
    path.write_text(path.read_text().replace("x.size < 10_000 or ", ""))
    done = run(installed, USE.split("x = np")[0] + "check_op(Mish, backends=['numpy'])")
    assert not done.returncode, done.stderr


def test_a_kernel_that_computes_something_else_is_refused(installed: Path) -> None:
    path = installed / "plugrad_mish" / "on_numpy.py"
    text = path.read_text().replace("x.size < 10_000 or ", "").replace("w + 2", "w + 2.001")
    path.write_text(text)
    prove = "check_op(Mish, backends=['numpy'], checks=['kernels'])"
    done = run(installed, USE.split("x = np")[0] + prove)
    assert done.returncode
    assert "with the kernel, in float64" in done.stderr
    assert "Reproduce with" in done.stderr
