"""What programs have in use at once: planned as it is, lowered by computing again, never shared."""

import gc
import linecache
import traceback
import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from backends.numpy_backend.kernels import compiler
from core import optimizers
from core.programs import over
from core.programs.group import Group
from core.programs.lifetimes import peak
from core.programs.rematerializing import rematerialized

X = np.random.default_rng(0).normal(size=(64, 48)).astype("f")  # large enough for kernels
T = (np.arange(64) % 48).astype("i")

LAYERS = [
    F.tanh,
    F.sigmoid,
    F.gelu,
    F.softplus,
    F.relu,
    lambda x: F.dropout(x, 0.3),
    lambda x: x * F.sigmoid(x) + 0.5,
    lambda x: F.exp(F.clip(x, -1, 1)),
    lambda x: F.transpose(F.tanh(F.transpose(x))),
    lambda x: F.reshape(F.reshape(x, (48, 64)) * 0.5, (64, 48)),
    lambda x: F.concat([x[:, :20], F.tanh(x[:, 20:])]),
    lambda x: x + F.sin(x),
    lambda x: F.softmax(x) * 10,
]


@pytest.fixture(autouse=True)
def _no_seed(monkeypatch):
    monkeypatch.setattr(over, "LEAST", 0)  # small arrays are written over, too
    yield
    core.seed(None)


def bits(tree):
    if isinstance(tree, (list, tuple)):
        return [bits(each) for each in tree]
    tree = getattr(tree, "array", tree)
    return None if tree is None else np.asarray(tree).tobytes()


def made(layers, seed=3):
    """A model with linear layers between, its optimizer, and a step that returns what it held."""
    core.seed(seed)
    model = core.ChainList(*[L.Linear(48, 48) for _ in layers])
    optimizer = optimizers.MomentumSGD(0.01).setup(model)

    def step(x, t):
        h = x
        for link, layer in zip(model, layers, strict=True):
            h = layer(link(h))
        loss = F.softmax_cross_entropy(h, t)
        core.report({"loss": loss, "h": h}, model)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss, h

    return model, step


def history(layers, steps=4, capture=None):
    """All bits of some steps, and the step; what was given is looked at again in the end."""
    model, step = made(layers)
    if capture is not None:
        step = core.capture(step, **capture)
    reporter = core.Reporter()
    reporter.add_observer("main", model)
    core.seed(5)
    held, found = [], []
    for _ in range(steps):
        with reporter.scope({}):
            returned = step(X, T)
            seen = list(reporter.observation.values())
        held.append([*returned, *seen, *[p.grad for p in model.params()]])
        found.append(bits(held[-1]))
    assert [bits(each) for each in held] == found  # no replay has written into what is held
    return [*found, bits([p.array for p in model.params()])], step


@given(st.lists(st.sampled_from(LAYERS), min_size=1, max_size=4))
def test_what_is_computed_again_has_the_same_bits(layers):
    expected, _ = history(layers)
    kept, step = history(layers, capture={})
    assert kept == expected
    assert step.reasons == []
    with pytest.warns(UserWarning, match="expected at most 0 bytes in use"):
        less, smaller = history(layers, capture={"remat": 0})
    assert less == expected
    assert smaller.reasons == []
    before, after = (each.programs[0].cost().peak for each in (step, smaller))
    assert 0 < after <= before


@pytest.mark.skipif(not compiler.available(), reason="loops need numba")
def test_loops_are_computed_again_too():
    layers = [lambda x: F.exp(x * 0.1) * F.sin(x) + x] * 3
    expected, step = history(layers, capture={"fuse": True})
    with pytest.warns(UserWarning, match="remat"):
        found, smaller = history(layers, capture={"fuse": True, "remat": 0})
    assert found == expected
    assert smaller.programs[0].cost().peak < step.programs[0].cost().peak
    assert "loop of" in str(smaller.programs[0])


@pytest.mark.skipif(not compiler.available(), reason="loops need numba")
@given(st.lists(st.sampled_from(LAYERS[:5] + LAYERS[6:]), min_size=1, max_size=4))
@example([LAYERS[6], LAYERS[9]])  # one within a sequence
def test_loops_read_what_is_computed_again(layers):
    def function(x):
        h = x
        for layer in layers:
            h = layer(h @ weights)
        return core.grad([F.sum(h * h)], [x])[0]

    x, weights = core.Variable(X), core.Variable(X[:48] * 0.2)
    program = core.trace(function, x).fused()
    less = rematerialized(program, 0)
    assert bits(less(x)) == bits(program(x))
    for equation in less.equations:
        group = equation.call.function
        if isinstance(group, Group):
            assert [*group.inputs] == equation.inputs
            assert group.outputs == equation.outputs


def test_the_planned_peak_is_that_of_a_run():
    def function(x):
        a = F.exp(x)  # kept to the end
        b = F.sum(F.sqrt(a + 1) * 2)
        return F.sum(a * b)

    x = core.Variable(np.ones((500, 500), "f"))
    program = core.trace(function, x)
    program(x)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        program(x)
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert program.cost().peak == pytest.approx(most, rel=0.02)
    assert f"{program.cost().peak:,}" in repr(program.cost())


@pytest.mark.skipif(not compiler.available(), reason="what loops take is less")
def test_a_replay_takes_as_little_as_it_says():
    layers = [F.gelu] * 8
    found = []
    for most in (None, 150_000):
        _, step = history(layers, capture={} if most is None else {"remat": most})
        tracemalloc.start()
        try:
            step(X, T)
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            step(X, T)
            found.append(tracemalloc.get_traced_memory()[1] - before)
        finally:
            tracemalloc.stop()
    assert step.programs[0].cost().peak <= 150_000
    assert "bytes in use at most" in step.report()
    assert found[0] - found[1] > 4 * X.nbytes


def test_what_draws_or_stands_before_an_update_is_not_computed_again():
    def step(x, t):
        wide = F.exp(model.W * 2)
        optimizer.update(lambda: F.softmax_cross_entropy(model(F.dropout(x, 0.5)), t))
        return F.sum(wide * model.W)

    found = []
    for options in (None, {"remat": 0}):
        core.seed(3)
        model = L.Linear(48, 48)
        optimizer = optimizers.SGD(0.1).setup(model)
        taken = step
        if options is not None:
            taken = core.capture(step, **options)
        core.seed(4)
        found.append([bits(taken(X, T)) for _ in range(5)] if options is None else None)
        if options is not None:
            with pytest.warns(UserWarning, match="expected at most 0 bytes in use"):
                found[-1] = [bits(taken(X, T)) for _ in range(5)]
            assert taken.replayed == 4
    assert found[0] == found[1]


def test_what_is_computed_again_reads_no_parameters_behind_an_update():
    def made():
        model = L.Linear(48, 48, initialW=np.eye(48, dtype="f"))
        optimizer = optimizers.SGD(0.1).setup(model)

        def step(x):
            scale = F.exp(model.W)  # needed once more after the update, and then no longer
            optimizer.update(lambda: F.sum(F.tanh(model(x)) ** 2))
            waits = scale * x
            wide = F.exp(F.sin(x) * x)  # the peak
            return F.sum(waits * F.sum(F.cos(wide) + wide * x))

        return step

    x = X[:48] * 0.1
    eager, captured = made(), core.capture(made(), remat=0)
    with pytest.warns(UserWarning, match="expected at most 0 bytes in use"):
        assert [bits(captured(x)) for _ in range(4)] == [bits(eager(x)) for _ in range(4)]
    assert captured.replayed == 3


@given(st.lists(st.sampled_from(LAYERS[:5] + LAYERS[6:]), min_size=1, max_size=6))
def test_programs_that_compute_again_are_programs(layers):
    def function(x):
        h = x
        for layer in layers:
            h = layer(h)
        return core.grad([F.sum(h * h)], [x])[0]

    x = core.Variable(X)
    program = core.trace(function, x)
    less = rematerialized(program, 0)
    assert peak(less) <= peak(program)
    assert bits(less(x)) == bits(program(x))
    scope = {}
    exec(less.source(), scope)
    assert scope["program"](X).tobytes() == bits(program(x))
    assert str(less)


def test_updaters_take_it():
    model = core.Sequential(L.Linear(48, 48), F.gelu, L.Linear(48, 48))
    optimizer = optimizers.SGD(0.1).setup(L.Classifier(model))
    batches = core.iterators.SerialIterator(list(zip(X, T, strict=True)), 32)
    capture = core.capture(remat=1 << 30)
    updater = core.training.StandardUpdater(batches, optimizer, capture=capture)
    for _ in range(4):
        updater.update()
    assert "bytes in use at most" in updater.captured.report()


@pytest.mark.parametrize("remat", [-1, 1.5, True, "1 GB"])
def test_bytes_are_a_number(remat):
    with pytest.raises(ValueError, match="expected remat to be a number of bytes"):
        core.capture(lambda x: x, remat=remat)


def test_the_text_of_a_program_lives_as_long_as_what_runs_it():
    def texts():
        gc.collect()
        return [name for name in linecache.cache if name.startswith("<program told ")]

    def told(x):
        return F.tanh(x) + x[0]

    program = core.trace(told, X)
    program(X)
    (name,) = texts()
    with pytest.raises(Exception) as caught:  # whatever NumPy raises
        program._run(None)
    lines = traceback.extract_tb(caught.tb)
    assert any(line.filename == name and "(" in line.line for line in lines)
    del program, caught, lines
    assert not texts()


def test_arguments_are_freed_with_their_last_reference():
    def doubled(batch):
        return {"y": batch["x"] * 2}

    captured = core.capture(doubled)
    gc.disable()
    try:
        for call in (captured, captured, captured, core.vmap(doubled), core.trace):
            x = np.ones((3, 4))
            known = weakref.ref(x)
            call(doubled, {"x": x}) if call is core.trace else call({"x": x})
            del x
            assert known() is None
    finally:
        gc.enable()
    assert captured.replayed == 2


@pytest.mark.parametrize("fuse", [False, True])
def test_models_are_freed_with_the_last_reference_to_what_was_made_of_them(fuse):
    gc.collect()
    gc.disable()
    try:
        for make in (core.capture, core.trace, core.vmap):
            model, step = made([F.tanh, F.relu])
            if make is core.capture:
                step = core.capture(step, fuse=fuse)
                for _ in range(3):
                    step(X, T)
            elif make is core.trace:
                step = core.trace(model[0], X)
                (step.fused() if fuse else step)(X)
            else:
                step = core.vmap(lambda x, model=model: F.sum(model[0](x[None])))
                step(X)
            known = [weakref.ref(model), weakref.ref(model[0].W)]
            del model, step
            assert [each() for each in known] == [None, None], make.__name__
    finally:
        gc.enable()


def test_memory_is_in_use_as_long_as_a_view_of_it():
    def function(x):
        part = (x * 2)[:1]
        return part, np.sum(x * 3)

    x = np.ones(1000)
    assert 2 * x.nbytes <= peak(core.trace(function, x)) < 2 * x.nbytes + 100
