"""The backend, proved, and used as any other."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.errors import BackendError, CheckpointError
from core.testing import check_backend, check_link, check_op, check_optimizer

jax = pytest.importorskip("jax", reason="the backend of JAX needs JAX")
B = core.backend.get("jax")
DIGITS = Path(__file__).parents[2] / "digits" / "train_digits.py"


def test_what_the_core_asks_of_a_backend():
    check_backend("jax")


def test_jax_is_not_imported_before_it_is_asked_for():
    code = (
        "import sys, core, numpy, core.functions as F; F.relu(numpy.ones(2, 'f'))\n"
        "assert core.backend.available()['jax'] is None\n"
        "print('jax' in sys.modules)\n"
        "core.use('jax'); print('jax' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "True"]


def test_devices_have_words():
    assert str(core.get_device("jax:cpu:0")) == "jax:cpu:0"
    with pytest.raises(BackendError, match="no device jax:cpu:7; it has"):
        core.get_device("jax:cpu:7")


class Swish(core.Elementwise):
    """An operation of somebody else, written in the standard's words."""

    domain = core.Domain(x=core.real(-6, 6))

    def compute(self, xp, x):
        return x / (1 + xp.exp(-x))

    def gradient(self, xp, g, x):
        s = 1 / (1 + xp.exp(-x))
        return g * s * (1 + x * (1 - s))


def test_an_operation_is_proved_on_it():
    check_op(Swish, backends=["jax"], examples=2)


def test_a_link_with_running_statistics_is_proved_on_it():
    x = np.random.RandomState(0).normal(size=(4, 3))
    check_link(lambda: L.BatchNormalization(3), (x,), None, ["jax"], double=False)


def test_an_optimizer_with_a_state_is_proved_on_it():
    check_optimizer(lambda: optimizers.AMSGrad(), None, ["jax"], half=False)


def test_all_parameters_are_updated_by_one_function_that_jax_compiles(monkeypatch):
    made = []
    monkeypatch.setattr(B, "stage", lambda f: made.append(jax.jit(f)) or made[-1])
    model = core.Sequential(L.Linear(5, 4), L.Linear(4, 3)).to_device("jax")
    optimizer = optimizers.Adam().setup(model)
    for i in range(3):
        optimizer.alpha = 0.1 / (1 + i)
        for p in model.params():
            p.grad = jax.numpy.ones(p.shape, "float32")
        optimizer.update()
    (compiled,) = made
    assert compiled._cache_size() == 1


def test_arrays_stay_as_they_were():
    x = core.Variable(jax.numpy.zeros(3), requires_grad=False)
    before = x.array
    x[1] = 5.0
    core.backend.copyto(x, np.array([1.0, 2.0, 3.0]))
    assert x.array.tolist() == [1, 2, 3] and before.tolist() == [0, 0, 0]
    with pytest.raises(BackendError, match="an array of 'jax' cannot be changed. Give a Variable"):
        core.backend.copyto(before, 1.0)
    with pytest.raises(TypeError, match="arrays of jax cannot be changed in place. Give a Var"):
        mean = jax.numpy.zeros(1)
        F.batch_normalization(mean[None], mean, mean, running_mean=mean)


@pytest.mark.parametrize("index", [4, -5, (0, 3), (slice(None), -4), (..., 9), (None, 0, 0, 0)])
def test_places_that_are_not_there_are_refused(index):
    """JAX itself takes the last place, and writes nowhere."""
    x = core.Variable(jax.numpy.zeros((4, 3)))
    for value in (x, core.Variable(x.array, requires_grad=False)):
        with pytest.raises(IndexError, match="GetItem: .* indices|GetItem: .* out of bounds"):
            value[index]
    with pytest.raises(IndexError, match="SetItem: .* indices|SetItem: .* out of bounds"):
        core.Variable(x.array, requires_grad=False)[index] = 1.0
    with pytest.raises(IndexError, match="SetItem: .* indices|SetItem: .* out of bounds"):
        (x * 1)[index] = 1.0
    assert x[3, -3].array == x[-4, 2].array == 0


@pytest.mark.parametrize("number", [4, -5])
@pytest.mark.parametrize(
    "places",
    [lambda at: at, lambda at: (..., at, None, 0), lambda at: (None, [*at.tolist()], slice(1))],
)
def test_arrays_of_places_that_are_not_there_are_refused(number, places):
    """JAX itself takes the last place, writes to none and gives NaN."""
    at = np.array([0, number])
    x = core.Variable(jax.numpy.zeros((4, 3)))
    index, there = places(at), core.Variable(x.array, requires_grad=False)
    wrong = pytest.raises(IndexError, match=f"index {number} is out of bounds for axis 0 with")
    for look in (lambda: x[index], lambda: F.scatter_add(x, index, jax.numpy.ones(()))):
        with wrong:
            look()
    with wrong:
        there[index] = 1.0
    assert not there.array.any()
    namespace = x.__array_namespace__()
    with wrong:
        namespace.take(x, jax.numpy.asarray(at), axis=0)
    with wrong:
        namespace.take_along_axis(x, jax.numpy.asarray(at)[:, None], axis=0)
    assert x[places(np.array([0, -4]))].array.sum() == 0


def test_numbers_of_8_bits_name_places_of_long_axes():
    """JAX itself adds the size of the axis to them, which int8 does not hold."""
    at = np.array([2, 120, 2], "int8")
    x, y = [core.Variable(lib.asarray(np.ones((130, 121)))) for lib in (jax.numpy, np)]
    for index in (at, (at, at), (slice(None), at)):
        parts = index if isinstance(index, tuple) else (index,)
        there = tuple([jax.numpy.asarray(p) if p is at else p for p in parts])
        for v, given in ((x, there), (y, index)):
            v.cleargrad()
            F.sum(v[given] * 3).backward()
        np.testing.assert_array_equal(x.grad, y.grad)


def test_a_model_that_comes_to_the_host_learns_there():
    model = core.Sequential(L.Linear(3, 2), L.BatchNormalization(2)).to_device("jax")
    optimizer = optimizers.MomentumSGD().setup(model)
    for place in ("jax", "numpy"):
        model.to_device(place)
        x = core.get_device(place).send(np.arange(6.0, dtype="f").reshape(2, 3))
        before = np.array(core.backend.to_host(model[0].W))
        optimizer.update(lambda x=x: F.sum(model(x) ** 2 * np.float32(3)))
        assert not np.array_equal(core.backend.to_host(model[0].W), before)
    assert type(model[1].avg_mean) is np.ndarray


@pytest.mark.parametrize("seed", [None, 3])
def test_random_numbers_are_resumed_to_the_bit(seed):
    before = core.backend.random_state()
    try:
        core.seed(seed)
        B.random.normal((3,))
        state = json.loads(json.dumps(core.backend.random_state()))

        def drawn():
            r = B.random
            return [np.asarray(a) for a in (r.normal((5,)), r.uniform((5,)), r.permutation(9))]

        first, other = drawn(), drawn()
        core.backend.set_random_state(state)
        for a, b, c in zip(first, drawn(), other, strict=True):
            assert np.array_equal(a, b) and not np.array_equal(a, c)
        with pytest.raises(CheckpointError):
            core.backend.set_random_state({})
    finally:
        core.backend.set_random_state(before)


def trained(backend):
    core.seed(0)
    model = core.Sequential(L.Linear(1, 8), F.tanh, L.Linear(8, 1))
    model.to_device(backend)
    optimizer = optimizers.MomentumSGD(lr=0.1).setup(model)
    optimizer.add_hook(core.optimizer_hooks.GradientClipping(1.0))
    x = core.get_device(backend).send(np.linspace(-2, 2, 32, dtype="f")[:, None])
    losses = []
    for _ in range(20):
        optimizer.update(lambda: F.mean_squared_error(model(x), F.sin(x)))
        with core.no_backprop_mode():
            losses.append(F.mean_squared_error(model(x), F.sin(x)).item())
    return losses


def test_a_model_learns_what_it_learns_with_numpy():
    try:
        losses = {name: trained(name) for name in ("numpy", "jax")}
    finally:
        core.seed(None)
    np.testing.assert_allclose(losses["jax"], losses["numpy"], rtol=1e-3)
    assert losses["jax"][-1] < losses["jax"][0] / 2


def digits(out, *options):
    """Train the example of digits in a process of its own, up to the second epoch."""
    command = [sys.executable, str(DIGITS), "--backend", "jax", "--epoch", "2", "--out", str(out)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=out.parent)
    assert done.returncode == 0, done.stderr
    return sorted(out.glob("snapshot_iter_*"), key=lambda path: int(path.name.rpartition("_")[2]))


@pytest.mark.skipif(not DIGITS.exists(), reason="the example of digits is not beside this one")
def test_digits_are_learnt_and_a_run_that_is_resumed_repeats_its_bits(tmp_path):
    first, last = digits(tmp_path / "whole", "--check", "85")
    (again,) = digits(tmp_path / "resumed", "--resume", str(first))
    with np.load(last) as whole, np.load(again) as resumed:
        names = [name for name in whole.files if "/model:main/" in name]
        assert len(names) == 8
        assert all(np.array_equal(whole[name], resumed[name]) for name in names)


def captured(capture):
    """What steps give and leave, with draws, a rate that changes, and averages that move."""
    core.seed(0)
    model = core.Sequential(L.Linear(3, 8), F.tanh, L.BatchNormalization(8), L.Linear(8, 2))
    model.to_device("jax")
    optimizer = optimizers.Adam(alpha=0.01).setup(model)

    def step(x, t):
        model.cleargrads()
        loss = F.softmax_cross_entropy(F.dropout(model(x), 0.2), t)
        loss.backward()
        optimizer.update()
        return loss

    made, rng, found = core.capture(step) if capture else step, np.random.default_rng(0), []
    for i in range(6):
        optimizer.alpha = 0.01 / (1 + i)
        x, t = rng.standard_normal((8, 3)).astype("f"), rng.integers(0, 2, 8)
        found.append(made(B.asarray(x), B.asarray(t)).item())
        found += [np.asarray(p.grad) for p in model.params()]
    return made, [*found, *[np.asarray(p.array) for p in model.params()], model[2].avg_mean]


def test_a_captured_step_is_compiled_by_jax():
    try:
        (_, expected), (step, found) = captured(False), captured(True)
    finally:
        core.seed(None)
    assert "6 calls, 5 of them replayed" in step.report()
    assert "1 parts by jax as a whole" in step.report()
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)


def test_a_step_whose_arrays_are_not_where_it_looks_for_them_is_left_to_eager():
    x = core.Variable(jax.numpy.ones(3))
    step = core.capture(lambda: F.sum(x * x).array)
    with pytest.warns(Warning, match="an array of backend numpy, as the arguments are, got one"):
        assert [step().item() for _ in range(3)] == [3.0] * 3
