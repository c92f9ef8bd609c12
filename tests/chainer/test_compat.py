"""The distribution `compat/`, really installed into an environment of its own, and its tests there.

Importing `chainer` switches the whole process to Chainer's ways, so nothing of it is imported here.
"""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPAT = ROOT / "compat"


def run(*command, **environment):
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        cwd=COMPAT,
        env={**os.environ, "PYTEST_ADDOPTS": "", **environment},
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python in whose environment the distribution is installed, beside what is here."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    there = folder / "bin" / "python"
    asked = run(there, "-c", "import site; print(site.getsitepackages()[0])")
    packages = Path(asked.stdout.strip())
    lines = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
    (packages / "parent.pth").write_text("\n".join([*lines, str(ROOT)]))
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation")
    done = run(there, *pip, "--prefix", folder, COMPAT)
    assert done.returncode == 0, done.stderr
    assert (packages / "chainer" / "__init__.py").exists()
    return there


@pytest.mark.parametrize(("version", "tests"), [("", "tests"), ("1", "tests/version_1")])
def test_its_tests_pass_there(python, version, tests):
    options = ("-q", "-n", "0", "-p", "no:cacheprovider")
    done = run(python, "-m", "pytest", *options, tests, CHAINER_COMPAT=version)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


def test_it_refuses_to_stand_beside_chainer(python, tmp_path):
    """A distribution of that name is enough: its files may have been replaced by these."""
    info = tmp_path / "chainer-7.8.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chainer\nVersion: 7.8.1\n")
    done = run(python, "-c", "import chainer", PYTHONPATH=tmp_path)
    assert "ImportError" in done.stderr and "chainer 7.8.1 is installed" in done.stderr
    assert "`pip uninstall chainer`" in done.stderr


def test_plugrad_alone_is_as_it_was(python):
    """Installing changes nothing: only importing does."""
    program = (
        "import core, numpy as np; x = core.Variable(np.ones(2, 'f')); print((x == 1).array.all(),"
        " core.Parameter(0, (2,)).grad)"
    )
    done = run(python, "-W", "error", "-c", program)
    assert (done.stdout, done.stderr) == ("True None\n", "")
    assert sys.executable != str(python)
