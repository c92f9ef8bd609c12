"""Captured steps on arrays of other libraries: what eager does, bit for bit.

One library changes no arrays, one records and launches as CUDA graphs do, and one is PyTorch.
"""

import sys
from importlib import import_module

import numpy as np
import pytest
from launched import LaunchingBackend, Noted
from unchanging import UnchangingBackend

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks as hooks
from core import optimizers
from core.arrays.backend import Backend
from core.registry.lazy import resolve

TORCH = str(core.__path__[0]).removesuffix("core") + "examples/plugin_torch"


@pytest.fixture(params=["launching", "unchanging", "torch"])
def place(request):
    """A backend that is registered for a test."""
    if request.param == "torch":
        for needed in ("torch", "array_api_compat"):
            pytest.importorskip(needed)
        sys.path.insert(0, TORCH)
        made = import_module("plugrad_torch.backend").TorchBackend()
        tables = import_module("plugrad_torch.kernels").TABLES
    else:
        kinds = {"launching": LaunchingBackend, "unchanging": UnchangingBackend}
        made, tables = kinds[request.param](), {}
    found = core.backend.register(made)
    for section, table in (("compute", found.kernels), ("gradient", found.gradient_kernels)):
        table.update({op: resolve(kernel) for op, kernel in tables.get(section, {}).items()})
    yield found
    core.backend.unregister(found)
    if request.param == "torch":
        sys.path.remove(TORCH)


class Model(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.images, self.words = L.Convolution2D(1, 3, 3), L.EmbedID(5, 6)
            self.norm, self.cell = L.BatchNormalization(6), L.LSTM(6, 6)
            self.first, self.last = L.Linear(27, 6), L.Linear(6, 3)

    def forward(self, x, words, t):
        self.cell.reset_state()
        h = F.max_pooling_2d(F.relu(self.images(x)), 2)
        h = F.dropout(self.norm(F.tanh(self.first(h))), 0.3)
        for word in (words, t):
            h = h + self.cell(self.words(word))
        loss = F.softmax_cross_entropy(self.last(h), t)
        core.report({"loss": loss})
        return loss


class Training:
    """A model and its step, on a backend, from a seed."""

    def __init__(self, place):
        core.seed(3)
        np.random.seed(0)
        self.place, self.model = place, Model().to_device(place.name)
        self.optimizer = optimizers.Adam(alpha=0.01).setup(self.model)
        self.optimizer.add_hook(hooks.GradientClipping(0.5))
        self.rng = np.random.default_rng(1)

    def step(self, x, words, t):
        self.model.cleargrads()
        loss = self.model(x, words, t)
        loss.backward()
        self.optimizer.update()
        return loss

    def batch(self):
        draws = self.rng.random((4, 1, 8, 8), "f"), *self.rng.integers(0, 3, (2, 4))
        return [self.place.asarray(draw) for draw in draws]

    def run(self, step, steps=5):
        """What the steps give, and all that the model has after each."""
        found, seen = [], []
        for i in range(steps):
            self.optimizer.alpha = 0.01 / (1 + i)
            with core.Reporter() as reporter:
                found.append(step(*self.batch()).array)
            found += [p.grad for p in self.model.params()]
            found.append(reporter.observation["loss"])
            state = [p.array for p in self.model.params()]
            state += [self.model.norm.avg_mean, self.model.norm.avg_var]
            seen.append([core.backend.to_host(core.as_array(x)).copy() for x in state])
        # What has left a step is not written by later ones, so it can be looked at in the end.
        return [core.backend.to_host(core.as_array(x)) for x in found], seen


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.arrays.random_streams.set_stream_state(None)


def compared(place):
    """Eager and captured, which have to be equal to the bit; the captured step."""
    eager = Training(place)
    expected = eager.run(eager.step)
    again = Training(place)
    step = core.capture(again.step)
    found = again.run(step)
    for one, other in zip(expected[0], found[0], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(expected[1], found[1], strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)
    assert again.optimizer.t == eager.optimizer.t == 5
    return step


def test_replays_have_eagers_bits(place):
    step = compared(place)
    assert "5 calls, 4 of them replayed" in step.report()
    if place.name == "launching":
        assert "parts by launching as a whole" in step.report()
        assert place.recorder.launches == 3  # the first replay is made as it is
        assert 1 <= place.recorder.recordings <= 3


def test_what_cannot_be_recorded_is_asked_for_one_by_one(place):
    if place.name != "launching":
        pytest.skip("records nothing")
    place.recorder.refusal = "no capture here"
    with pytest.warns(UserWarning, match="launching cannot record it .RuntimeError: no capture"):
        step = compared(place)
    assert "not as a whole: RuntimeError: no capture here" in step.report()
    assert "4 of them replayed" in step.report()
    assert place.recorder.launches == 0


def test_a_parameter_that_moves_is_followed(place):
    model = L.Linear(3, 2).to_device(place.name)
    forward = core.capture(lambda x: model(x))
    x = place.asarray(np.ones((4, 3), "f"))
    with core.no_backprop_mode():
        for i in range(6):
            if i % 2:
                model.W.array = place.asarray(np.full((2, 3), i, "f"))
            found, expected = (core.backend.to_host(each(x)) for each in (forward, model))
            np.testing.assert_array_equal(found, expected)
    assert "6 calls, 5 of them replayed" in forward.report()


def test_labels_out_of_range_leave_everything_as_it_was(place):
    training = Training(place)
    step = core.capture(training.step)
    training.run(step, 3)
    before = [core.backend.to_host(p.array).copy() for p in training.model.params()]
    x, words, t = training.batch()
    with pytest.raises(core.errors.OutOfRange):
        step(x, place.asarray(np.array([0, 1, 7, 0])), t)
    for p, kept in zip(training.model.params(), before, strict=True):
        np.testing.assert_array_equal(core.backend.to_host(p.array), kept)
    assert training.optimizer.t == 3


def summed_by_the_default(self, a, index, values):
    return super(LaunchingBackend, self).scatter_add(a, index, values)


@pytest.mark.parametrize("default", [Backend.scatter_add, summed_by_the_default])
def test_sums_into_places_by_the_default_are_those_of_each_call(place, default, monkeypatch):
    """It looks how often a place is named; a recording would keep to what it saw."""
    if place.name != "launching":
        pytest.skip("records nothing, or has sums of its own")
    monkeypatch.setattr(LaunchingBackend, "scatter_add", default)
    monkeypatch.setattr(Noted, "item", np.ndarray.item)  # a library that lets numbers be read

    def slope(table, numbers):
        table = core.Variable(table, requires_grad=True)
        y = F.exp(F.embed_id(numbers, table))
        return core.grad([F.sum(y * y)], [table])[0].array * 2

    step = core.capture(slope)
    table = place.asarray(np.linspace(-1, 1, 15, dtype="f").reshape(5, 3))
    for numbers in (*[[0, 1, 2, 3]] * 4, [0, 0, 1, 2], [4, 4, 4, 1], [2, 2, 2, 2]):
        found, expected = (each(table, place.asarray(np.array(numbers))) for each in (step, slope))
        np.testing.assert_array_equal(*map(core.backend.to_host, (found, expected)))
    assert place.recorder.launches > 2


def test_traces(place):
    x = place.asarray(np.arange(6.0).reshape(2, 3))
    bias = place.asarray(np.ones(3))

    def function(x):
        x = core.Variable(x, requires_grad=True)
        y = F.softmax(x + bias)
        return core.grad([F.sum(y * y)], [x])[0].array

    program = core.trace(function, x)
    more = place.asarray(np.linspace(-1, 1, 6).reshape(2, 3))
    for each in (x, more):
        found, expected = program(each), function(each)
        assert type(found) is type(expected)
        np.testing.assert_allclose(
            core.backend.to_host(found), core.backend.to_host(expected), rtol=1e-12
        )


def test_what_only_a_library_does_is_left_to_eager(place):
    if place.name != "torch":
        pytest.skip("has no functions of its own")
    kept = place.asarray(np.zeros(2))

    @core.capture
    def step(x):
        kept.add_(1.0)
        return x + 1

    x = place.asarray(np.ones(2))
    with pytest.warns(UserWarning, match="outside is changed in place by its library"):
        for _ in range(4):
            step(x)
    assert kept.tolist() == [4, 4]


def test_arrays_of_two_libraries_are_refused(place):
    with pytest.raises(core.errors.TraceError, match="of one backend on one device, got .*numpy"):
        core.trace(lambda x, y: x, place.asarray(np.ones(2)), np.ones(2))


def test_a_profile_waits_for_each_equation(place, monkeypatch):
    waited = []
    monkeypatch.setattr(place, "synchronize", waited.append, raising=False)
    x = place.asarray(np.ones((3, 3), "f"))
    profile = core.trace(lambda x: F.matmul(F.exp(x), x) + 1, x).profile(x)
    assert len(profile.lines) == 3 and waited == [place.device_of(x)] * 10 * 4


def test_rows_of_a_table_as_the_refusal_says():
    table = np.eye(4, dtype="f")
    look_up = {
        "numpy": core.capture(lambda i: table[i] * 2),
        "variable": core.capture(lambda i: (core.as_variable(table)[i] * 2).array),
    }
    with pytest.warns(UserWarning, match=r"core\.as_variable\(table\)\[i\]"):
        for k in range(3):
            i = np.array([k, 3, 1])
            for captured in look_up.values():
                assert captured(i).tobytes() == (table[i] * 2).tobytes()
    assert [captured.replayed for captured in look_up.values()] == [0, 2]
