"""What importing the package costs, and who imports whom."""

import re
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_core_writes_no_checked_function():
    code = """
import sys
written = []
def note(event, args):
    text = args[0] if event == "compile" else None
    if isinstance(text, (bytes, str)) and text[:9] in (b"def made(", "def made("):
        written.append(args[0])
sys.addaudithook(note)
import core
print(len(written))
core.grad([], [])
print(len(written))
"""
    assert run(code).split() == ["0", "1"]


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


def test_import_core_loads_nothing_that_its_names_load_when_they_are_asked_for():
    code = """
import sys
import core
print(sorted({'random', 'core.compat', 'core.link', 'core.ops', 'core.training'} & {*sys.modules}))
"""
    assert run(code) == "[]"


def test_all_that_the_core_shows_is_taken_by_a_star():
    code = """
from core import *
import core
given = {n for n in dir(core) if not n.startswith('__')}
print(sorted(n for n in given if globals()[n] is not getattr(core, n)), Chain, FunctionNode, real)
"""
    assert run(code).startswith("[] <class 'core.link.chain.Chain'> <class")


@pytest.mark.parametrize("operation", ["-x", "2 ** x", "x == x"])
def test_an_operator_loads_all_of_them(operation):
    code = f"""
import numpy, core
x = core.Variable(numpy.ones(2, 'f'))
v = core.Variable
from core.graph.operators import Operators
names = [n for n, f in vars(Operators).items() if callable(f)]
assert '__add__' in names and '__rpow__' in names and '__eq__' in names, names
{operation}
kept = [n for n in names if getattr(v, n) is vars(Operators)[n]]
print(kept, all(hasattr(v, n) for n in names))
"""
    assert run(code) == "[] True"


def test_an_operator_of_a_subclass_is_called_once_also_when_it_is_the_first():
    code = """
import numpy, core
class Mine(core.Variable):
    def __add__(self, other):
        print('mine')
        return super().__add__(other)
print((Mine(numpy.ones(1, 'f')) + 1).array)
"""
    assert run(code).split() == ["mine", "[2.]"]


def test_gradients_are_summed_where_an_op_of_ones_own_broadcasts_before_any_operator():
    code = """
import numpy as np, core
class Product(core.Elementwise):
    domain = core.Domain(x=core.real(-1, 1), y=core.real(-1, 1))
    def compute(self, xp, x, y): return xp.multiply(x, y)
    def gradient(self, xp, g, x, y): return xp.multiply(g, y), xp.multiply(g, x)
x, y = core.Variable(np.ones(1, 'f')), core.Variable(np.ones(3, 'f'))
z = Product.call(x, y)
z.grad = np.ones(3, 'f')
z.backward()
print(x.grad)
"""
    assert run(code) == "[3.]"


def test_a_variable_loads_no_operation_and_operators_load_but_theirs():
    code = """
import sys, numpy, core
def loaded():
    return [name.split('.', 2)[2] for name in sorted(sys.modules)
            if name.startswith('plugins.functions.') and name.count('.') > 2]
x = core.Variable(numpy.ones(2, 'f'))
x.grad = x.array
print(loaded())
x * x + 1
print(loaded())
"""
    before, after = map(literal_eval, run(code).splitlines())
    assert before == []
    namespace = ["comparisons", "operators", "plain", "promotion"]
    array = ["axis_order", "broadcast", "cast", "copy", "reshape", "where"]
    math = ["arithmetic", "product", "sum", "with_number"]
    folders = {"array": array, "math": math, "namespace": namespace}
    assert after == [f"{folder}.{name}" for folder in folders for name in folders[folder]]


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


def test_what_subclasses_have_to_define_is_abstract_or_asked_for_in_words():
    bare = re.compile(r"raise NotImplementedError(\(\))?$", re.MULTILINE)
    folders = ("backends", "compat", "core", "examples", "plugins", "plugrad")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert not [str(path) for path in files if bare.search(path.read_text("utf-8"))]
