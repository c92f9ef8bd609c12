"""Kernels that numba compiles: every proof of the op holds with them."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from all_ops import CHECKED, KINDS, REFERENCES
from compiled_kernels import taking

import core
import core.functions as F
from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiled, compiler, formulas, plain, tables
from backends.numpy_backend.kernels.compiled.array import choice
from backends.numpy_backend.kernels.compiled.loss import softmax
from backends.numpy_backend.kernels.compiled.normalization import batch as normalization
from backends.numpy_backend.kernels.compiled.normalization import own_statistics
from backends.numpy_backend.kernels.compiled.pooling import windows as pooling
from core.registry import configuration
from core.registry.kernel_table import KernelTable
from core.registry.lazy import resolve
from core.testing import check_op
from core.testing.leaving_out import CHECKS
from plugins.functions.loss.softmax_cross_entropy import SoftmaxCrossEntropy
from plugins.functions.normalization.batch_normalization import BatchNormalization
from plugins.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from plugins.functions.normalization.group_normalization import GroupNormalization
from plugins.functions.normalization.layer_normalization import LayerNormalization
from plugins.functions.pooling.average_pooling import AveragePooling2D
from plugins.functions.rnn.gru_sequence import GRUSequence
from plugins.functions.rnn.lstm_sequence import LSTMSequence
from plugins.functions.rnn.simple_sequence import ReLUSequence

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")
OF_KERNELS = [name for name in CHECKS if name != "traced"]  # programs follow formulas
BY_NAME = {
    key.rpartition(":")[2]: key
    for table in (compiled, formulas)
    for key in table.COMPUTE | table.GRADIENT
}


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No array that has elements is too small for the kernels."""
    monkeypatch.setattr(normalization, "SHORT", 1)
    with taking(1):
        yield


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three threads, however many processors there are."""
    monkeypatch.setitem(configuration._shared, "num_threads", 3)


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work of any size is done in parts, one after the other."""

    def divide(loop: Callable[..., None], size: int, least: int, *arguments: Any) -> None:
        for part in pairwise(parallel.bounds(size, least)):
            loop(*arguments, *part)

    monkeypatch.setattr(parallel, "count", lambda size, *_: max(1, min(size, 3)))
    monkeypatch.setattr(parallel, "divide", divide)
    monkeypatch.setitem(configuration._shared, "num_threads", 1)


@pytest.fixture
def without_kernels() -> Iterator[None]:
    kept: list[tuple[KernelTable, dict[str, Any]]] = [
        (table, dict(table)) for table in (NUMPY.kernels, NUMPY.gradient_kernels)
    ]
    for table, _ in kept:
        table.clear()
    yield
    for table, kernels in kept:
        table.update(kernels)


@pytest.mark.parametrize("name", sorted(set(BY_NAME) & set(CHECKED)))
def test_every_proof_of_the_op_holds(name: str, always: None, in_parts: None) -> None:
    # Loops made of formulas are all written by one emitter, and many are compiled for each shape.
    by_hand = BY_NAME[name] in compiled.COMPUTE | compiled.GRADIENT
    check_op(
        CHECKED[name],
        REFERENCES.get(name),
        ["numpy"],
        checks=OF_KERNELS,
        kind=KINDS.get(name),
        examples=None if by_hand else 5,
    )


def test_compiled_kernels_go_before_plain_ones() -> None:
    for section, added in (
        ("compute", compiled.COMPUTE),
        ("gradient", compiled.GRADIENT),
        ("update_all", compiled.UPDATE_ALL),
    ):
        for name, target in (getattr(plain, section.upper(), {}) | added).items():
            assert tables()[section][name] == target
            assert callable(resolve(target))


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


STEP = """
import core, core.functions as F, numpy as np, sys
x = core.Variable(np.linspace(-1, 1, 4096, dtype="f"))
F.sum(F.relu(x)).backward()
print(float(x.grad.sum()), "llvmlite" in sys.modules)
"""


def test_a_report_says_what_is_compiled(tmp_path: Path) -> None:
    code = STEP + "\nprint(core.backend.get('numpy').state())"
    said = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert re.search(
        r"'compiled loops': 'numba [\d.]+, (16|32) registers of (128|256|512) bits'", said
    )
    assert re.search(rf"'machine code': '[1-9]\d* loops in {re.escape(str(tmp_path))}", said)
    assert "'none, PLUGRAD_COMPILED=0'" in run(code, PLUGRAD_COMPILED="0")


def test_a_switch_leaves_numba_alone() -> None:
    assert run(STEP, PLUGRAD_COMPILED="0") == "2048.0 False"
    assert run(STEP, NUMBA_DISABLE_JIT="1") == "2048.0 False"
    assert run(STEP) == "2048.0 True"


def test_a_numba_that_cannot_be_imported_is_told_of_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "numba").mkdir()
    text = 'raise ImportError("Numba needs NumPy 2.2 or less.")'
    (tmp_path / "numba" / "__init__.py").write_text(text)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    caught = """
try:
    F.relu(x)
except core.errors.BackendError as error:
    print(error)
"""
    nothing = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = run(STEP.split("F.sum")[0] + caught, **nothing)
    assert "NumPy 2.2 or less. Install" in said and "set PLUGRAD_COMPILED=0" in said
    assert run(STEP, PYTHONPATH=path, PLUGRAD_COMPILED="0") == "2048.0 False"


def test_a_folder_of_the_name_of_numba_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "find_spec", lambda name: ModuleSpec(name, None, is_package=True))
    assert not compiler.available.__wrapped__()


def test_small_arrays_load_neither_numba_nor_machine_code() -> None:
    assert run(STEP.replace("4096", "40")) == "20.0 False"


def test_machine_code_is_kept_and_found_without_numba(tmp_path: Path) -> None:
    step = STEP.replace("llvmlite", "numba")
    assert run(step, NUMBA_CACHE_DIR=str(tmp_path)) == "2048.0 True"
    made = sorted(tmp_path.rglob("*.nbc"))
    assert made
    before = [path.stat().st_mtime_ns for path in made]
    assert run(step, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_NUM_THREADS="1") == "2048.0 False"
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*.nbc"))] == before


ATTENTION = """
import core, core.functions as F, numpy as np, sys
q, k, v = [core.Variable(np.random.default_rng(i).normal(size=(2, 64, 16))) for i in range(3)]
F.sum(F.scaled_dot_product_attention(q, k, v)).backward()
print("".join([x.grad.tobytes().hex() for x in (q, k, v)]), "numba" in sys.modules)
"""  # in loops that make arrays
RESHAPED = """
import numpy as np, sys
import core
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiler import Read2, Write1

def loop(x: Read2, y: Write1) -> None:
    y[0] = x.reshape(x.size)[5] + np.empty(0).size

x, y = np.arange(8.0).reshape(2, 4), np.zeros(1)
compiler.compiled(loop)(x, y)
print(y[0], "numba" in sys.modules)
"""  # by a function of numba's that is in no machine code


@pytest.mark.parametrize(("program", "needed"), [(ATTENTION, "False"), (RESHAPED, "True")])
def test_numba_is_imported_to_compile_and_where_code_asks_for_it(
    program: str, needed: str, tmp_path: Path
) -> None:
    first = run(program, NUMBA_CACHE_DIR=str(tmp_path)).split()
    assert first[1] == "True"
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)).split() == [first[0], needed]
    assert list(tmp_path.rglob("*.nbc"))


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "without some pages": lambda data: data[:4096] + bytes(len(data) - 4096),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_crash_left_of_machine_code_is_compiled_anew(damage: str, tmp_path: Path) -> None:
    run(STEP, NUMBA_CACHE_DIR=str(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    sizes = [path.stat().st_size for path in files]
    for path in files:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert run(STEP, NUMBA_CACHE_DIR=str(tmp_path)) == "2048.0 True"
    assert [path.stat().st_size for path in files] == sizes
    assert all([any(path.read_bytes()[4096:]) for path in files])


@pytest.mark.skipif(sys.platform == "win32", reason="no limits for files")
def test_what_is_kept_belongs_to_the_sources_of_all_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops call those of other files, in whatever folder."""
    monkeypatch.setattr(compiler, "__file__", str(tmp_path / "compiler.py"))
    part = tmp_path / "compiled" / "rnn" / "rows.py"
    part.parent.mkdir(parents=True)
    part.write_text("ONE = 1\n")
    before = compiler._digest()
    part.write_text("ONE = 2\n")
    assert compiler._digest() != before


def test_a_full_disk_costs_the_cache_only(tmp_path: Path) -> None:
    limit = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""
    fused = """
f = lambda x: F.sum(F.exp(x) * F.tanh(x) + F.sigmoid(x))
print(bool(core.trace(f, x.array)(x.array).array > 0))
"""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    assert run(limit + STEP + fused, **environment) == "2048.0 True\nTrue"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("float64", "float32")])
def test_processes_that_compile_at_once_leave_the_code_of_each(
    dtypes: tuple[str, str], tmp_path: Path
) -> None:
    """As where the second has written something between all that the first writes."""
    texts = [STEP.replace('"f"', f'"{dtype}"') for dtype in dtypes]
    folders = [tmp_path / "one", tmp_path / "two"]
    for text, folder in zip(texts, folders, strict=True):
        run(text, NUMBA_CACHE_DIR=str(folder))
    for path in folders[0].rglob("*.nbc"):
        shutil.copy(path, folders[1] / path.relative_to(folders[0]))
    for text in texts:
        assert run(text, NUMBA_CACHE_DIR=str(folders[1])) == "2048.0 True"


LOOPS = """
import core, core.functions as F, numpy as np

x = np.linspace(-1, 1, 400_000, dtype="f")
core.config.num_threads = 3
F.relu(x), core.trace(lambda x: F.exp(x) + F.tanh(x), x).fused()(x)
formulas = [lambda x: F.exp(x) * x + 1, lambda x: F.tanh(x) - x * x]
right = [np.exp(x) * x + 1, np.tanh(x) - x * x]
programs = {{i: core.trace(formulas[i], x).fused() for i in {which}}}
print([bool(np.allclose(programs[i](x).array, right[i], atol=1e-5)) for i in {which}])
"""


def test_loops_that_two_processes_have_compiled_are_two_to_a_third(tmp_path: Path) -> None:
    """Each is compiled as the first one of a process, and found beside the other before a call."""
    for which in ([], [0], [1], [0, 1], [1, 0]):
        found = run(LOOPS.format(which=which), NUMBA_CACHE_DIR=str(tmp_path))
        assert found == str([True] * len(which))


def test_machine_code_of_other_versions_goes_after_a_month(tmp_path: Path) -> None:
    old, young = tmp_path / "plugrad" / "loops-old", tmp_path / "plugrad" / "loops-young"
    for folder in (old, young):
        folder.mkdir(mode=0o700, parents=True)
        (folder / "code.nbc").write_bytes(b"")
    (tmp_path / "plugrad").chmod(0o700)
    os.utime(old, (0, 0))
    code = "from backends.numpy_backend.kernels import compiler; print(compiler.cache_folder())"
    made = Path(run(code, XDG_CACHE_HOME=str(tmp_path), NUMBA_CACHE_DIR=""))
    assert sorted(made.parent.iterdir()) == sorted([made, young])


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    blocked.chmod(stat.S_IRUSR)
    assert run(STEP, NUMBA_CACHE_DIR=str(blocked)) == "2048.0 True"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
@pytest.mark.parametrize("others", ["write", "own by a link"])
def test_no_machine_code_is_taken_from_where_others_may_write(others: str, tmp_path: Path) -> None:
    cache = tmp_path / "plugrad"
    if others == "write":
        cache.mkdir()
        cache.chmod(0o777)
    else:
        (tmp_path / "theirs").mkdir()
        cache.symlink_to(tmp_path / "theirs")
    code = "from backends.numpy_backend.kernels import compiler; print(compiler.cache_folder())"
    ours = {"NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path / "temporary")}
    found = run(code, XDG_CACHE_HOME=str(tmp_path), **ours)
    assert not found.startswith(str(tmp_path))
    mine = run(code, XDG_CACHE_HOME=str(tmp_path / "mine"), NUMBA_CACHE_DIR="")
    assert mine.startswith(str(tmp_path / "mine" / "plugrad"))
    assert stat.S_IMODE(Path(mine).stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="homes of POSIX")
def test_a_user_without_a_home_keeps_machine_code_in_the_temporary_folder(tmp_path: Path) -> None:
    code = """
import os, pwd
def unknown(user):
    raise KeyError(user)
pwd.getpwuid = unknown  # as of a number that a container is told to run as
os.environ.pop("HOME", None)
from backends.numpy_backend.kernels import compiler; print(compiler.cache_folder())"""
    for cache in ("", "relative"):  # which the standard of these folders says to leave out
        found = run(code, XDG_CACHE_HOME=cache, NUMBA_CACHE_DIR="", TMPDIR=str(tmp_path))
        assert Path(found).parent == tmp_path / f"plugrad-{os.getuid()}"


def test_relu_on_many_elements(always: None, divided: None) -> None:
    r = np.random.RandomState(0)
    y, g = (r.standard_normal((512, 700)).astype("f") for _ in range(2))
    v = core.Variable(y)
    out = F.relu(v)
    out.grad = g
    out.backward()
    np.testing.assert_array_equal(v.grad, np.where(y > 0, g, 0))


@pytest.mark.parametrize("shape", [(5, 6), (2, 1, 1, 6), (3, 5, 1), ()])
@pytest.mark.parametrize("otherwise", [False, True])
def test_masks_that_repeat_are_loops(shape: Any, otherwise: bool, always: None) -> None:
    r = np.random.default_rng(0)
    mask, (x, y) = r.random(shape) < 0.5, r.standard_normal((2, 2, 3, 5, 6), "f")
    op, first, second = (choice.where_number, -1.5, x) if otherwise else (choice.where, x, y)
    expected = np.where(mask, first, second)
    settings = SimpleNamespace(number=-1.5, otherwise=otherwise)
    given = (x,) if otherwise else (x, y)
    np.testing.assert_array_equal(op(settings, np, np.asarray(mask), *given), expected)
    v, w = core.Variable(x), core.Variable(y)
    F.sum((F.where(mask, -1.5, v) if otherwise else F.where(mask, v, w)) ** 2).backward()
    kept = np.broadcast_to(mask, x.shape)
    np.testing.assert_array_equal(v.grad, np.where(kept != otherwise, 2 * x, 0))
    if not otherwise:
        np.testing.assert_array_equal(w.grad, np.where(kept, 0, 2 * y))


ROW, ROWS, MAPS = (4,), (6, 4), (2, 3, 4, 4)
READ = {
    "batch_normalization": (F.batch_normalization, ((6, 4, 5), ROW, ROW)),
    "batch_normalization of rows": (F.batch_normalization, (ROWS, ROW, ROW)),
    "fixed_batch_normalization": (F.fixed_batch_normalization, ((6, 4, 5), *[ROW] * 4)),
    "group_normalization": (
        lambda x, gamma, beta: F.group_normalization(x, 2, gamma, beta),
        ((6, 4, 5), ROW, ROW),
    ),
    "gru_sequence": (
        lambda *given: F.concat(GRUSequence()(*given), 0),
        (ROWS, (18, 12), (12, 4), (12,)),
    ),
    "layer_normalization": (F.layer_normalization, (ROWS, ROW, ROW)),
    "linear": (F.linear, (ROWS, (3, 4), (3,))),
    "lstm": (lambda c, x: F.concat(F.lstm(c, x)), (ROWS, (6, 16))),
    "lstm_sequence": (
        lambda *given: F.concat(LSTMSequence()(*given), 0),
        (ROWS, ROWS, (18, 16), (16, 4)),
    ),
    "relu_sequence": (lambda *given: F.concat(ReLUSequence()(*given), 0), (ROWS, (18, 4), (4, 4))),
    "resize_images": (lambda x: F.resize_images(x, (5, 3)), (MAPS,)),
    "softmax": (F.softmax, (ROWS,)),
    "softmax_cross_entropy": (
        lambda x: F.softmax_cross_entropy(x, np.arange(6) % 4, reduce="no"),
        (ROWS,),
    ),
    "spatial_transformer_sampler": (
        lambda x, at: F.spatial_transformer_sampler(x, at - 1),
        (MAPS, (2, 2, 3, 3)),
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", READ)
def test_numbers_of_other_machines_are_read_as_numbers(name: str, dtype: str, always: None) -> None:
    """An array in the other byte order, be it an argument or the gradient of the result."""
    function, shapes = READ[name]
    r = np.random.default_rng(0)
    arrays = [r.uniform(0.5, 2, shape).astype(dtype) for shape in shapes]
    g = r.standard_normal(function(*arrays).shape).astype(dtype)
    expected = found(function, arrays, g)
    for i, array in enumerate([*arrays, g]):
        given = [*arrays, g]
        given[i] = array.astype(array.dtype.newbyteorder())
        for a, b in zip(found(function, given[:-1], given[-1]), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def found(function: Any, arrays: list[Any], g: Any) -> list[Any]:
    """The result and all gradients."""
    variables = [core.Variable(a) for a in arrays]
    y = function(*variables)
    return [v.array for v in (y, *core.grad([y], variables, [core.Variable(g)]))]


LOOP = """
import re
import numpy as np
from backends.numpy_backend.kernels import lowering
from backends.numpy_backend.kernels.compiled import activation
from backends.numpy_backend.kernels.emitter import registers

texts, code_of = [], lowering._Library.code
def code(library, call):
    texts.append(library.get_asm_str())
    return code_of(library, call)
lowering._Library.code = code
activation._gelu.at(np.dtype("f"))
[code] = texts
print(registers({features!r}).bits, *sorted(set(re.findall("[xyz]mm", code))))
"""
MACHINES = {
    "cascadelake": "+avx,+avx2,+fma,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl",
    "haswell": "+avx,+avx2,+fma",
}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other code")
@pytest.mark.parametrize("name", MACHINES)
def test_loops_use_whole_registers(name: str, tmp_path: Path) -> None:
    """Also where LLVM would rather take half of them, as for the first of these processors."""
    environment = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": MACHINES[name]}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path)  # of loops found on disk there is no text
    bits, *used = run(LOOP.format(features=MACHINES[name]), **environment).split()
    assert {"512": "zmm", "256": "ymm"}[bits] == used[-1]


@pytest.mark.parametrize(("rows", "taken"), [(8, False), (32, True)])
def test_operations_of_many_calls_are_loops_of_few_elements(rows: int, taken: bool) -> None:
    drawn = np.random.default_rng(0)
    x, c = drawn.normal(size=(rows, 4)).astype("f"), np.ones(4, "f")
    for op, kernel, inputs in (
        (LayerNormalization(), own_statistics.layer_normalization, (x, c, c)),
        (BatchNormalization(), normalization.batch_normalization, (x, c, c)),
        (FixedBatchNormalization(), normalization.fixed_batch_normalization, (x, *[c] * 4)),
        (GroupNormalization(2), own_statistics.group_normalization, (x, c, c)),
        (AveragePooling2D((1, 2)), pooling.average_pooling, (x[::4].reshape(-1, 1, 2, 2),)),
    ):
        assert (kernel(op, np, *inputs) is not NotImplemented) == taken
    op, t = SoftmaxCrossEntropy(), np.zeros(rows, int)
    assert softmax.softmax_cross_entropy(op, np, x, t) is not NotImplemented
