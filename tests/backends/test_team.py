"""Parts of compiled loops in threads that take them without the interpreter: each of them once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler, team

if not compiler.available():
    pytest.skip("loops are not compiled here", allow_module_level=True)

from backends.numpy_backend.kernels.compiled.optimizers.update import _adam, _sgd

SIZE = 1000


def summed(edges: list[int], times: int, threads: int, dtype: str = "float32") -> np.ndarray:
    """As many ones added to each element, in parts that begin at these places."""
    p, g = np.zeros(SIZE, dtype), np.ones(SIZE, dtype)
    parts = [(p, g, -1.0, *part) for part in pairwise([0, *sorted(edges), SIZE])]
    with core.using_config("num_threads", threads):
        for _ in range(times):
            parallel.each(_sgd, parts)
    return p


@given(
    st.lists(st.integers(0, SIZE), max_size=30),
    st.integers(2, 4),
    st.sampled_from(["float32", "float64"]),
)
def test_each_part_is_computed_once(edges: list[int], threads: int, dtype: str) -> None:
    assert np.array_equal(summed(edges, 5, threads, dtype), np.full(SIZE, 5, dtype))


@core.using_config("num_threads", 2)
def test_what_is_divided_is_packed_as_one() -> None:
    p, g = np.zeros(SIZE, "f"), np.ones(SIZE, "f")
    with parallel.noted() as calls:
        parallel.divide(_sgd, SIZE, 1, p, g, -1.0)
    assert (p == 1).all()
    assert [(loop, parts) for loop, _, parts, *_ in calls] == [(_sgd, 4)]


@core.using_config("num_threads", 2)
def test_what_is_read_may_begin_at_any_address() -> None:
    p, g = np.zeros(SIZE, "f"), np.zeros(4 * SIZE + 1, "u1")[1:].view("f")
    g[:] = 1
    parallel.divide(_sgd, SIZE, 1, p, g, -1.0)
    parallel.each(_sgd, [(p, g, -1.0, 0, 500), (p, g, -1.0, 500, SIZE)])
    assert (p == 2).all()


def test_callers_of_several_threads_get_their_own_results() -> None:
    found: list[np.ndarray] = []

    def call(number: int) -> None:
        found.append(summed(list(range(0, SIZE, 50 + number)), 300, 3))

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all([(p == 300).all() for p in found])


def test_whoever_interrupts_the_packing_has_parts_of_its_own() -> None:
    summed([500], 1, 2)
    p, g = np.zeros(SIZE, "f"), np.ones(SIZE, "f")
    pack = _sgd.packer(p.dtype)

    def interrupted(*part: Any) -> None:  # as by a signal's handler
        pack(*part)
        assert (summed([500], 1, 2) == 1).all()

    parts = [(p, g, -1.0, *part) for part in ((0, 500), (500, SIZE))]
    team.run([interrupted] * 2, parts, 1, small=False)
    assert (p == 1).all()


START = """
import threading, numpy as np, core
from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.optimizers.update import _sgd

def add_ones():
    p, g = np.zeros(100, "f"), np.ones(100, "f")
    parallel.each(_sgd, [(p, g, -1.0, i, i + 25) for i in range(0, 100, 25)])
    assert (p == 1).all()

def start(thread):
    if error is not RuntimeError:
        real(thread)
    raise error("can't start new thread")

core.global_config.num_threads = 2
error, real, threading.Thread.start = {error}, threading.Thread.start, start
try:
    add_ones()
except KeyboardInterrupt:
    print("interrupted")
threading.Thread.start = real
for _ in range(3):
    add_ones()
print(sum(thread.name == "plugrad-loops" for thread in threading.enumerate()))
"""


@pytest.mark.parametrize(
    ("error", "printed"), [("RuntimeError", "1"), ("KeyboardInterrupt", "interrupted 1")]
)
def test_a_thread_that_cannot_be_started_is_done_without_and_none_is_there_twice(
    error: str, printed: str
) -> None:
    code = START.replace("{error}", error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.split(), done.stderr) == (printed.split(), "")


@given(st.lists(st.integers(0, SIZE), min_size=1, max_size=8))
def test_arguments_of_every_kind_reach_the_loop(edges: list[int]) -> None:
    r = np.random.default_rng(0)
    arrays = [r.random(SIZE).astype("f") for _ in range(4)]
    numbers = (0.9, 0.1, 0.999, 0.001, 0.01, 1e-8, 0.02, 0.5)
    whole = [a.copy() for a in arrays]
    _adam(*whole, *numbers, 0, SIZE)
    with core.using_config("num_threads", 3):
        spans = pairwise([0, *sorted(edges), SIZE])
        parallel.each(_adam, [(*arrays, *numbers, *span) for span in spans])
    assert all([np.array_equal(a, b) for a, b in zip(arrays, whole, strict=True)])


@compiler.compiled
def _who(x: compiler.Write1, start: int, stop: int, thread: int) -> None:
    for i in range(start, stop):
        x[i] = thread


def test_other_threads_help_again_and_again() -> None:
    x, parts = np.empty(1 << 20, "f"), range(0, 1 << 20, 1 << 14)
    helped = 0
    with core.using_config("num_threads", 2):
        for _ in range(20_000):  # as long as it takes on a busy machine
            parallel.each(_who, [(x, start, start + (1 << 14), 0) for start in parts])
            assert set(np.unique(x)) <= {0, 1}
            helped += bool(x.any())
            parallel.each(_who, [(x, 0, 1, 0), (x, 1, 2, 0), (x, 2, 3, 0)])  # another number
            if helped == 5:
                return
    pytest.fail("nobody helped")


def test_who_had_to_be_woken_is_not_taken_for_busy() -> None:
    x, size = np.empty(1 << 23, "f"), 1 << 18
    with core.using_config("num_threads", 2):
        parallel.each(_who, [(x, 0, size, 0), (x, size, 2 * size, 0)], small=True)
        numbers = team._team._numbers
        patience, times = numbers[team.PATIENCE], numbers[team.TIMES]
        asleep = team.FIRST + team.ASLEEP
        numbers[team.PATIENCE] = 0  # whoever waits at all waits in vain
        try:
            helped = 0
            for _ in range(5_000):  # as long as it takes on a busy machine
                numbers[team.LATE], numbers[team.ALONE] = 0, team.SOME
                while not numbers[asleep]:
                    time.sleep(0.001)
                parallel.each(_who, [(x, 0, size, 0), (x, size, 2 * size, 0)], small=True)
                assert not numbers[team.LATE]
                helped += bool(x[: 2 * size].any())
                if helped == 20:
                    break
            numbers[team.TIMES] = times * 1000  # awake, it is, as soon as it is waited for
            size = x.size // 2  # takes longer than threads that share one processor have it for
            for _ in range(5_000):
                parallel.each(_who, [(x, 0, size, 0), (x, size, 2 * size, 0)], small=True)
                if numbers[team.LATE]:
                    return
        finally:
            numbers[team.PATIENCE], numbers[team.TIMES] = patience, times
    pytest.fail("nobody was waited for")


FORKED = """
import os
import numpy as np
import core
from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.optimizers.update import _sgd

def right():
    p, g = np.zeros(1000, "f"), np.ones(1000, "f")
    parallel.each(_sgd, [(p, g, -1.0, i, i + 100) for i in range(0, 1000, 100)])
    return bool((p == 1).all())

with core.using_config("num_threads", 3):
    before = right()
    child = os.fork()
    if not child:
        os._exit(0 if right() else 1)
    print(before, os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_has_threads_of_its_own() -> None:
    run = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert run.stdout == "True 0\n", run.stderr


COMPILED_MEANWHILE = """
import os, signal, threading, time
import numpy as np
import core.functions as F

x = np.ones(5000, "f")


def compute(x):
    F.gelu(x), F.elu(x), F.softplus(x)


F.relu(x)
compute(x[:5])  # so that no import is under way, for which Python's own locks are not free
thread = threading.Thread(target=compute, args=(x,))
thread.start()
children = []
while thread.is_alive():
    time.sleep(0.3)
    child = os.fork()
    if not child:
        signal.alarm(60)
        compute(x)
        os._exit(0)
    children.append(child)
print(len(children) > 0, {os.waitpid(child, 0)[1] for child in children})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_is_forked_while_a_thread_compiles_can_compile(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", COMPILED_MEANWHILE],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.stdout == "True {0}\n", run.stderr
