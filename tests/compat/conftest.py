"""An environment in which the distribution `compat/` is really installed."""

import os
import site
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPAT = ROOT / "compat"


def _run(*command, **environment):
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        cwd=COMPAT,
        env={**os.environ, "PYTEST_ADDOPTS": "", **environment},
    )


@pytest.fixture(scope="session")
def run():
    """Run a command, as in `run(python, "-c", program, VARIABLE="1")`."""
    return _run


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """A Python in whose environment the distribution is installed, beside what is here."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    there = folder / "bin" / "python"
    asked = _run(there, "-c", "import site; print(site.getsitepackages()[0])")
    packages = Path(asked.stdout.strip())
    lines = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
    (packages / "parent.pth").write_text("\n".join([*lines, str(ROOT)]))
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation")
    done = _run(there, *pip, "--prefix", folder, COMPAT)
    assert done.returncode == 0, done.stderr
    assert (packages / "chainer" / "__init__.py").exists()
    return there
