"""Environment variables, read when the core is imported: each in a process of its own."""

import os
import subprocess
import sys

import pytest

SHOW = "import core; print(core.config.debug, core.config.type_check, core.is_debug())"


def run(program, **settings):
    ours = {k: v for k, v in os.environ.items() if not k.startswith("PLUGRAD_")}
    return subprocess.run(
        [sys.executable, "-c", program], env={**ours, **settings}, capture_output=True, text=True
    )


def printed(program, **settings):
    done = run(program, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_defaults():
    assert printed(SHOW) == ["False", "True", "False"]


@pytest.mark.parametrize(
    ("value", "on"),
    [("1", True), ("true", True), ("0", False), ("", False), ("False", False), ("off", False)],
)
def test_debug_and_type_check(value, on):
    assert printed(SHOW, PLUGRAD_DEBUG=value) == [str(on), "True", str(on)]
    assert printed(SHOW, PLUGRAD_TYPE_CHECK=value) == ["False", str(on), "False"]


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("DEBUG", "1, true, yes"),
        ("DTYPE", "'float16', "),
        ("USE_CUDNN", "'always', 'auto' or "),
        ("NUM_THREADS", "a whole number of at least 1"),
    ],
)
def test_what_an_entry_cannot_be_is_refused(variable, expected):
    done = run("import core", **{f"PLUGRAD_{variable}": "maybe"})
    assert done.returncode == 1
    assert f"PLUGRAD_{variable}: expected {expected}" in done.stderr and "'maybe'" in done.stderr
    assert printed("import core; print(1)", PLUGRAD_DTYPE="", PLUGRAD_USE_CUDNN="") == ["1"]


def test_debug_names_a_nan():
    program = """
import core, numpy as np, core.functions as F
np.seterr(all="ignore")
F.log(core.Variable(np.array([-1.0], "f")))
"""
    done = run(program, PLUGRAD_DEBUG="1")
    assert done.returncode == 1 and "NaN is detected on forward computation of log," in done.stderr
    assert run(program).returncode == 0


def test_unchecked_types():
    program = """
import core, numpy as np, core.functions as F
print(F.relu(np.array([-1, 2])).array.tolist())
"""
    assert printed(program, PLUGRAD_TYPE_CHECK="0") == ["[0.0,", "2.0]"]
    assert "Expect: x.dtype is floating" in run(program).stderr


def test_a_seed_fixes_weights_masks_and_orders():
    program = """
import core, numpy as np, core.functions as F, core.links as L
from core import iterators
batches = iterators.SerialIterator(list(range(10)), 10)
print(L.Linear(3, 2).W.array.sum(), F.dropout(np.ones(9, "f")).array.sum(), *batches.next())
"""
    first, second = printed(program, PLUGRAD_SEED="7"), printed(program, PLUGRAD_SEED="7")
    assert first == second != printed(program, PLUGRAD_SEED="8")


@pytest.mark.parametrize("value", ["seven", "1.5"])
def test_a_seed_that_is_none(value):
    done = run(
        "import core, core.links as L; L.Linear(3, 2)",
        PLUGRAD_SEED=value,
    )
    assert done.returncode == 1 and "PLUGRAD_SEED" in done.stderr and value in done.stderr


def test_a_backend_that_is_misspelt():
    done = run("import core, core.links as L; L.Linear(3, 2)", PLUGRAD_BACKEND="nunpy")
    assert done.returncode == 1 and "Did you mean 'numpy'" in done.stderr
