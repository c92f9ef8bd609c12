"""Results in the memory of arguments: the same bits, less memory, and nothing of anybody else's."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from backends.numpy_backend.kernels import compiler
from core.programs import over
from core.programs.lifetimes import Lifetimes
from core.programs.over import Over, Pair
from core.registry.threads import using_threads

needs_loops = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")
R = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def all_sizes(monkeypatch):
    """Let small arrays be written over, and have loops."""
    from backends.numpy_backend import fusion

    monkeypatch.setattr(over, "LEAST", 0)
    monkeypatch.setattr(fusion, "CALL", 0)


def pairs(program):
    return Lifetimes(program).taken_over()


# -- who else has it -------------------------------------------------------------------------------


class Doubled:
    """A function that can be given the memory of its result."""

    def __call__(self, x, y):
        return (x * 2 + y,)

    def into(self, room, x, y):
        if not room[1].flags.carray:
            return NotImplemented
        np.multiply(x, 2, out=room[1])
        room[1][...] += y
        return (room[1],)


def lying(how):
    """An array, and whoever else has it."""
    x = np.arange(12.0).reshape(3, 4).copy()
    if how == "read-only":
        x.flags.writeable = False
    return {
        "alone": (x, None),
        "named": (x, x),
        "in a list": (x, [x]),
        "seen by a view": (x, x[1:]),
        "seen as bytes": (x, memoryview(x)),
        "a view": (x[:2], None),
        "turned": (np.asfortranarray(x), None),
        "read-only": (x, None),
        "not aligned": (np.zeros(97, "u1")[1:].view("d").reshape(3, 4), None),
    }[how]


@pytest.mark.parametrize(
    "how",
    ["alone", "named", "in a list", "seen by a view", "seen as bytes", "a view", "turned"]
    + ["read-only", "not aligned"],
)
def test_only_what_nobody_else_has_is_written_over(how):
    x, held = lying(how)
    before, y = x.copy(), np.ones((1, 4))
    place = x.__array_interface__["data"][0]
    called = Over(Doubled(), Pair(0, 0), core.backend.get("numpy"))
    last = [x]
    del x
    (found,) = called(last, y)
    assert last == []
    assert (found == before * 2 + 1).all()
    assert (found.__array_interface__["data"][0] == place) == (how == "alone")
    if held is not None:
        held = np.asarray(held[0] if how == "in a list" else held)
        assert (held == before[-len(held) :]).all()


# -- kernels ---------------------------------------------------------------------------------------


@needs_loops
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("held", [False, True])
def test_a_rectifier_takes_the_memory_of_a_convolution(dtype, held):
    with core.using_config("dtype", np.dtype(dtype)):
        convolution = L.Convolution2D(2, 8, 3, initial_bias=-0.1)
    x = R.normal(size=(4, 2, 20, 20)).astype(dtype)

    def step(x):
        convolution.cleargrads()
        before = convolution(x)
        after = F.relu(before)
        pooled = F.max_pooling_2d(F.relu(after * 0.5), 2)
        F.sum(pooled * pooled).backward()
        return [after, before] if held else [pooled]

    def bits():
        gradients = [p.grad for p in convolution.params()]
        return [np.asarray(a).tobytes() for a in [*[y.array for y in found], *gradients]]

    found = step(x)
    expected = bits()
    captured = core.capture(step)
    for threads in (1, 2):
        with using_threads(threads):
            for _ in range(4):
                found = captured(x)
                assert bits() == expected
    program = captured.programs[0]
    names = [program.equations[i].call.name for i in pairs(program)]
    assert names.count("ReLU") == 2 - held and names.count("ReLU, backward") >= 1
    assert captured.reasons == []


@needs_loops
def test_less_memory_is_taken_and_costs_say_so(monkeypatch):
    x, W = [R.normal(size=shape).astype("f") for shape in ((8, 2, 40, 40), (6, 2, 3, 3))]
    size = 8 * 6 * 38 * 38 * 4
    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr(over, "LEAST", least)
        step = core.capture(lambda x: F.sum(F.relu(F.convolution_2d(x, W))))
        for _ in range(4):
            step(x)
        tracemalloc.start()
        try:
            step(x)
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            step(x)
            found.append(tracemalloc.get_traced_memory()[1] - before)
        finally:
            tracemalloc.stop()
        assert step.programs[0].cost().peak == pytest.approx(found[-1], rel=0.15)
    assert found[0] < 1.1 * size and found[1] > 2 * size


# -- loops -----------------------------------------------------------------------------------------

BINARY = [
    np.add,
    np.multiply,
    np.maximum,
    lambda a, b: np.where(a > 0.5, b, a),
    lambda a, b: np.zeros_like(a) + b * 2,
    lambda a, b: np.ones_like(a),
]
ROWS = [np.max, np.sum, np.mean]
STEPS = st.tuples(st.sampled_from(range(9)), st.integers(0, 9), st.integers(0, 9))


def drawn(steps):
    """A function of two arrays that loops read last: of some of what it makes it gives some."""

    def function(x, y):
        values = [np.cumsum(x, axis=1), np.cumsum(y, axis=0)]
        for kind, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            if kind < len(BINARY):
                values.append(BINARY[kind](a, b))
            else:
                values.append(a - ROWS[kind - len(BINARY)](b, axis=1, keepdims=True) * 0.5)
        return [np.cumsum(value, axis=0) for value in values[2:][-3:]] + [values[-1]]

    return function


@needs_loops
@settings(max_examples=25)
@given(st.lists(STEPS, min_size=1, max_size=6), st.sampled_from("fd"), st.booleans())
def test_loops_give_the_same_bits_over_what_they_read(steps, dtype, many):
    shape = (520, 300) if many else (5, 37)
    x, y = [np.random.default_rng(i).normal(size=shape).astype(dtype) for i in (1, 2)]
    program = core.trace(drawn(steps), x, y).fused()
    threads = using_threads(2 if many else 1)
    with pytest.MonkeyPatch.context() as patch, threads, np.errstate(all="ignore"):
        found = program(x, y)
        patch.setattr(over, "LEAST", 1 << 60)
        apart = core.trace(drawn(steps), x, y).fused()
        expected = apart(x, y)
        assert not pairs(apart)
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


@needs_loops
def test_what_a_later_pass_reads_stays():
    def function(x):
        v = np.cumsum(x, axis=1)
        y = v * 2
        return y, y / np.sum(y, axis=1, keepdims=True) + v

    def once(x):
        v = np.cumsum(x, axis=1)
        return v * 2 + np.where(v > 0, v, 1)

    x = R.normal(size=(40, 300)).astype("f")
    for call, expected in ((function, [(1, 0)]), (once, [(0, 0)])):
        program = core.trace(call, x).fused()
        assert list(pairs(program).values()) == expected
        for found, wanted in zip(np.atleast_1d(program(x)), np.atleast_1d(call(x)), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4)


@needs_loops
@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize(
    "made",
    [np.zeros_like, np.ones_like, lambda c: np.full_like(c, 3)],
)
def test_what_follows_from_nothing_is_written_after_what_is_read_there(made, dtype):
    def function(x):
        a = np.flip(x, axis=1) * 1.5
        c = np.cumsum(a, axis=1)
        return np.sum(c * a), made(c), c

    x = R.normal(size=(300, 400)).astype(dtype)
    program = core.trace(function, x).fused()
    assert pairs(program)
    for found, expected in zip(program(x), function(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3)
