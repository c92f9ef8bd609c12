"""Threads: first steps taken together, one model used by several, one graph walked by several."""

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from all_ops import CHECKED
from hypothesis import given, settings
from samples import array, ones, tanh, total, variable

import core
from core import FunctionNode, Variable
from core.errors import GraphError
from core.registry.once import once
from core.testing.strategies import cases
from core.testing.trial import Trial

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 4
FREE_THREADED = os.environ.get("PLUGRAD_FREE_THREADED") or next(
    filter(None, map(shutil.which, ("python3.14t", "python3.13t"))), None
)


@pytest.fixture
def restless():
    """Threads take turns at every opportunity."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def everywhere(function, times=WORKERS):
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda _: function(), range(times)))


def at_once(*works):
    """What functions give that several threads call at the same moment."""
    start = threading.Barrier(len(works))

    def run(work):
        start.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result() for done in [pool.submit(run, work) for work in works]]


PROGRAMS = ["facades", "operators", "links", "models", "iterator", "codes"]


@pytest.mark.parametrize("program", [*PROGRAMS, "optuna"])
def test_programs_whose_threads_do_everything_first_together(program):
    if program == "optuna":
        pytest.importorskip("optuna")
    assert ran(sys.executable, program) in ("GIL\n", "no GIL\n")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_without_a_global_lock(program):
    if FREE_THREADED is None:
        pytest.skip("no free-threaded Python: name one that has plugrad in PLUGRAD_FREE_THREADED")
    assert ran(FREE_THREADED, program) == "no GIL\n"  # and nothing has switched it on again


def ran(python, program):
    command = [python, str(ROOT / "tests/threads_first.py"), program]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(n for n, op in CHECKED.items() if op.declared))
def test_an_op_called_first_by_several_threads(name, restless):
    """Each thread gets the outputs and gradients of the op as it was, bit by bit."""
    op = CHECKED[name]

    @settings(max_examples=1)
    @given(cases(op))
    def check(case):
        known = Trial(case, core.backend.get("numpy"), None, "elementwise")
        if known.is_random:
            return
        case.op = type(name, (op,), {"__module__": op.__module__, "kernels_of": op})
        assert not case.op._is_specialized
        new = Trial(case, known.backend, None, "elementwise")
        found = at_once(*[lambda: new.run_with_gradients("float32")] * WORKERS)
        case.op = op
        expected = known.run_with_gradients("float32")
        for outputs, gradients in found:
            for mine, theirs in zip(
                [*outputs, *gradients], [*expected[0], *expected[1]], strict=True
            ):
                np.testing.assert_array_equal(mine, theirs)

    check()


def test_a_facade_lists_its_names_while_others_find_some(restless):
    import core.functions

    names, listed, here = dir(core.functions), threading.Event(), vars(core.functions)

    def look():
        try:
            return [core.functions.__dir__() == names for _ in range(200)]
        finally:
            listed.set()

    def find():
        found = [f"_{i}" for i in range(200)]
        while not listed.is_set():
            for name in found:
                here[name] = None
            for name in found:
                del here[name]

    assert all(at_once(look, find)[0])


def test_what_is_made_once_is_one_object_for_all():
    meeting = threading.Barrier(WORKERS)

    class Thing:
        @once
        def part(self):
            meeting.wait()  # all have found nothing, and make it
            return object()

    thing = Thing()
    assert len(set(at_once(*[lambda: thing.part] * WORKERS))) == 1


def test_kernels_that_change_while_others_call(restless):
    """Whatever was looked up before the change is forgotten with it."""

    class Op(core.Elementwise):
        def compute(self, xp, x):
            return x * 1

        def gradient(self, xp, g):
            return g * 1

    home, done = core.backend.get("numpy"), threading.Event()

    def call():
        sizes = 0
        while not done.is_set():
            sizes = sizes % 300 + 1
            x = Variable(np.ones(sizes, "f"))
            y = Op.call(x)
            y.grad = np.ones_like(y.array)
            y.backward()
            assert {y.array[0], x.grad[0]} <= {1, 2, 3}

    def change():
        try:
            for _ in range(40):
                for factor in (2, 3):
                    home.kernels[Op] = lambda f, xp, x, factor=factor: x * factor
                    home.gradient_kernels[Op] = lambda f, g, needs_grad, factor=factor: (
                        g * factor,
                    )
                    for n in (1, 7):
                        x = Variable(np.ones(n, "f"))
                        y = Op.call(x)
                        y.grad = np.ones_like(y.array)
                        y.backward()
                        assert y.array[0] == x.grad[0] == factor
        finally:
            done.set()

    try:
        at_once(change, call, call, call)
    finally:
        for table in (home.kernels, home.gradient_kernels):
            table.pop(Op, None)


def test_shared_settings_change_while_others_make_states(restless):
    """No state is left with what was shared before, and no set changes while it is gone through."""
    done = threading.Event()

    def make():
        seen = 0
        while not done.is_set():
            seen += 1
            with core.using_config("own", [seen]):  # unhashable: another state each time
                assert core.config.own == [seen]
        with core.using_config("own", []):
            return core.configuration.current_state().check

    def change():
        try:
            for _ in range(300):
                core.global_config.type_check = False
                core.global_config.type_check = True
        finally:
            done.set()
        return core.configuration.current_state().check

    assert at_once(change, make, make, make) == [True] * 4


def test_one_block_entered_by_several_threads(restless):
    block = core.using_config("train", False)

    def run(own):
        for i in range(300):
            core.config.own = own
            with block:
                assert core.config.train is False and core.config.own == own
                if i % 3 == 0:
                    core.config.other = i  # then the state is not the one that was entered
            assert core.config.train is True and core.config.own == own

    at_once(*[lambda own=own: run(own) for own in range(WORKERS)])
    assert block._blocks == []


def test_the_stream_is_taken_away_while_others_look_at_it(restless):
    done = threading.Event()

    def look():
        while not done.is_set():
            for _ in range(1000):
                core.arrays.random_streams.stream()

    def change():
        try:
            for n in range(20000):
                core.seed(n)
                core.seed(None)
        finally:
            done.set()

    at_once(change, look, look)


def test_a_backend_registered_while_another_thread_looks_for_its_own():
    """What was found before the change is not remembered after it."""
    home = type(core.backend.get("numpy"))
    arrays = type("Arrays", (np.ndarray,), {})
    special = type("Special", (home,), {"name": "special", "array_type": arrays})()

    class Late(type):
        def __subclasscheck__(cls, kind):  # asked in the middle of the search
            with ThreadPoolExecutor(1) as pool:
                pool.submit(core.backend.register, special).result()
            return False

    late = type("Slow", (home,), {"name": "slow", "array_type": Late("None", (), {})})()
    core.backend.register(late)
    try:
        x = np.ones(3).view(arrays)
        core.backend.of(x)
        assert core.backend.of(x) is special
    finally:
        core.backend.unregister(late)
        core.backend.unregister(special)


def test_forward_on_one_model_from_several_threads():
    w = core.Parameter(array(50, 50))
    x = Variable(array(20, 50))
    expected = tanh(x @ w).array
    start = threading.Barrier(WORKERS)

    def run():
        start.wait()
        return [tanh(x @ w).array for _ in range(50)]

    for results in everywhere(run):
        for y in results:
            np.testing.assert_array_equal(y, expected)


def test_graphs_of_their_own_with_shared_inputs():
    """Each thread differentiates its own graph; grad() leaves the shared leaves alone."""
    w = variable(30)

    def run():
        x = Variable(ones(30))
        y = x
        for _ in range(50):
            y = tanh(y * w)
        return core.grad([total(y)], [w])[0].array

    first, *others = everywhere(run, 12)
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert w.grad is None


def test_one_graph_asked_for_gradients_by_several_threads():
    x, w = variable(4), variable(4)
    y = x
    for _ in range(300):
        y = tanh(y * w)
    z = total(y)
    expected = core.grad([z], [x])[0].array

    def run():
        return [core.grad([z], [x])[0].array for _ in range(20)]

    for results in everywhere(run):
        for g in results:
            np.testing.assert_array_equal(g, expected)


def test_new_shapes_met_by_several_threads_at_once():
    """The tables of shapes fill while others read them."""

    def run():
        found = []
        for n in range(1, 200):
            x = Variable(np.ones(n, "f"))
            y = total(tanh(x * x) + x)
            y.backward()
            found.append(float(x.grad.sum()))
        return found

    first, *others = everywhere(run)
    assert all(other == first for other in others)


class Recomputing(FunctionNode):
    """tanh(x w), which its backward computes again and walks, inside the walk that asks for it."""

    def __init__(self, w):
        self.w = w

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (np.tanh(inputs[0] * self.w.array),)

    def backward(self, indexes, grad_outputs):
        with core.force_backprop_mode():
            x = Variable(self.get_retained_inputs()[0].array)
            y = tanh(x * self.w)
            y.grad = grad_outputs[0].array
            y.backward()
        return (x.grad_var,)


def test_a_backward_inside_a_backward():
    w = variable(4)

    def gradients(f):
        w.cleargrad()
        x = Variable(np.full(4, 0.3, "f"))
        total(f(f(x * w) * w) * w).backward()
        return x.grad, w.grad

    recomputed = gradients(lambda x: Recomputing(w).apply((x,))[0])
    direct = gradients(lambda x: tanh(x * w))
    for a, b in zip(recomputed, direct, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_backward_inside_a_hook():
    seen = []

    class Inner(core.FunctionHook):
        name = "Inner"
        busy = False

        def backward_postprocess(self, function, in_data, out_grad):
            if self.busy:
                return
            self.busy = True
            x = Variable(np.array([3.0], "f"))
            with core.force_backprop_mode():
                (x * x).backward()
            seen.append((function.label, x.grad.item()))
            self.busy = False

    x = variable(4)
    y = total(tanh(x * x))
    y.backward()
    expected = x.grad
    x.cleargrad()
    with Inner():
        y.backward()
    np.testing.assert_array_equal(x.grad, expected)
    assert seen == [("Sum", 6.0), ("Tanh", 6.0), ("_ * _", 6.0)]


def test_a_backward_inside_a_hook_without_a_graph_is_refused_by_name():
    class Inner(core.FunctionHook):
        name = "Inner"

        def backward_preprocess(self, function, in_data, out_grad):
            (variable(1) * 2).backward()

    y = total(variable(4) * 2)
    with Inner(), pytest.raises(GraphError, match="no_backprop_mode"):
        y.backward()


def test_hooks_of_one_thread_do_not_see_another():
    labels = []

    class Labels(core.FunctionHook):
        name = "Labels"

        def forward_preprocess(self, function, in_data):
            labels.append(function.label)

    with Labels():
        thread = threading.Thread(target=lambda: tanh(variable(3)))
        thread.start()
        thread.join()
    assert labels == []
