"""What importing the package costs, and who imports whom."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_core_loads_neither_an_array_library_nor_a_plugin():
    code = """
import sys
before = set(sys.modules)
import core
new = {name.partition('.')[0] for name in set(sys.modules) - before}
print(sorted(new & {'numpy', 'cupy', 'backends', 'plugins', 'pluggy', 'importlib_metadata',
                    'hypothesis', 'numba', 'matplotlib', 'tqdm'}))
"""
    assert run(code) == "[]"


def test_a_variable_loads_no_op_plugin():
    code = """
import sys, numpy, core
x = core.Variable(numpy.ones(2, 'f'))
(x * x + 1).grad = None
print(sorted(name for name in sys.modules
             if name.startswith('plugins.functions.') and name.count('.') > 2))
"""
    assert run(code) == "[]"


@pytest.mark.parametrize("package", ["core", "backends", "plugins", "plugrad"])
def test_packages_say_that_they_are_typed(package):
    assert (ROOT / package / "py.typed").is_file()


def test_who_may_import_whom():
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
