"""What libraries make of Variables when SciPy's support of the array standard is switched on."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("library", ["scipy", "sklearn"])
def test_library(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed: pip install 'plugrad[interop]'")
    name = {"scipy": "test_scipy.py", "sklearn": "test_scikit_learn.py"}[library]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / name)],
        env=os.environ | {"SCIPY_ARRAY_API": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
