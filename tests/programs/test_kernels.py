"""Programs that call kernels: eager's bits, whatever the host has in the place of an operation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from backends.numpy_backend.kernels import compiler
from core.errors import TraceError


class Mixed(core.Chain):
    """Convolution, normalizations, pooling, dropout, a recurrent link and an embedding."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 16, 3, pad=1)
            self.bn = L.BatchNormalization(16)
            self.linear = L.Linear(1024, 64)
            self.ln = L.LayerNormalization(64)
            self.embed = L.EmbedID(400, 64)
            self.lstm = L.LSTM(64, 64)
            self.out = L.Linear(64, 10)

    def forward(self, x, words):
        h = F.max_pooling_2d(F.relu(self.bn(self.conv(x))), 2)
        h = F.dropout(F.gelu(self.ln(self.linear(h))), 0.3)
        found = [self.out(self.lstm(h + self.embed(words[:, i]))) for i in range(4)]
        self.lstm.reset_state()
        return sum(found)


@pytest.fixture
def case():
    core.seed(0)
    model, r = Mixed(), np.random.RandomState(0)
    x = r.randn(32, 3, 16, 16).astype("f")
    words, t = r.randint(0, 400, (32, 4)).astype("i"), r.randint(0, 10, 32).astype("i")

    def step(x, words, t):
        model.cleargrads()
        loss = F.softmax_cross_entropy(model(x, words), t)
        loss.backward()
        return {"loss": loss.array, **{path: p.grad for path, p in model.namedparams()}}

    yield model, step, (x, words, t)
    core.seed(None)


def test_kernels_give_eagers_bits(case):
    model, step, arrays = case
    program = core.trace(step, *arrays, kernels=True)
    averages = model.bn.avg_mean.copy()
    core.seed(1)
    found = program(*arrays)
    moved, model.bn.avg_mean[...] = model.bn.avg_mean.copy(), averages
    core.seed(1)
    expected = step(*arrays)
    assert model.bn.avg_mean.tobytes() == moved.tobytes()
    assert {k: a.tobytes() for k, a in found.items()} == {
        k: a.tobytes() for k, a in expected.items()
    }


def test_trace_of_kernels_draws_nothing(case):
    _, step, arrays = case
    before = core.backend.random_state()
    core.trace(step, *arrays, kernels=True)
    assert core.backend.random_state() == before


def test_kernels_are_named_in_text_and_costs(case):
    _, step, arrays = case
    program = core.trace(step, *arrays, kernels=True)
    assert "MaxPooling2D(" in str(program)
    assert program.cost().by_operation()["MaxPooling2D"][1] > 0
    with pytest.raises(TraceError, match="is a kernel of"):
        program.source()
    assert "MaxPooling2D(" not in str(core.trace(step, *arrays))


def test_weights_that_are_used_at_each_step_have_eagers_bits():
    core.seed(0)
    words, units, steps = 300, 64, 12
    embed, cell, out = L.EmbedID(words, units), L.StatelessLSTM(units, units), L.Linear(units, 300)
    model = core.ChainList(embed, cell, out)

    def step(x):
        model.cleargrads()
        c = h = None
        loss = 0
        for i in range(steps):
            c, h = cell(c, h, embed(x[:, i]))
            loss += F.sum(out(h) ** 2)
        loss.backward()
        return [p.grad for p in model.params()]

    x = np.random.RandomState(0).randint(0, words, (20, steps)).astype("i")
    program = core.trace(step, x, kernels=True)
    core.seed(None)
    assert "LinearFunction, backward" in str(program)
    for one, other in zip(program(x), step(x), strict=True):
        assert one.tobytes() == other.tobytes()


def test_gradients_that_wait_are_added_up_as_often_as_in_eager(monkeypatch):
    from backends.numpy_backend.deferred import Deferred
    from core.registry.threads import using_threads

    made = []
    whole = Deferred._sum
    monkeypatch.setattr(Deferred, "_sum", lambda self: made.append(1) or whole(self))
    link = L.Linear(512, 512)

    def step(x):
        link.cleargrads()
        h = x
        for _ in range(6):
            h = F.tanh(link(h))
        F.mean(h * h).backward()
        return link.W.grad

    x = np.ones((4, 512), "f")
    captured = core.capture(step)
    with using_threads(1):
        for _ in range(3):
            captured(x)
        made.clear()
        expected = step(x)
        eager = len(made)
        found = captured(x)
    assert found.tobytes() == expected.tobytes()
    assert 0 < len(made) - eager <= eager


@pytest.mark.skipif(not compiler.available(), reason="the kernels are compiled loops")
def test_what_kernels_find_out_about_shapes_is_found_out_once(monkeypatch):
    from backends.numpy_backend.kernels.compiled.convolution.convolution import convolution

    link, found, bound = L.Convolution2D(3, 8, 3), [], convolution.bound

    def counted(*args):
        found.append(args)
        return bound(*args)

    def function(x):
        return F.max_pooling_2d(F.relu(link(x)), 2).array

    r = np.random.RandomState(0)

    def images():
        return r.randn(2, 3, 20, 20).astype("f")

    program = core.trace(function, images(), kernels=True)
    monkeypatch.setattr(convolution, "bound", counted)
    for threads in (1, 2):  # which may be told by other parts
        with core.using_threads(threads):
            for _ in range(3):
                x = images()
                assert program(x).tobytes() == function(x).tobytes()
                assert program(x.swapaxes(2, 3)).tobytes() == function(x.swapaxes(2, 3)).tobytes()
        assert len(found) == threads


@st.composite
def laid(draw):
    """Arrays whose axes lie in any order, in steps, backwards, or repeat one element."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    order = draw(st.permutations(range(len(shape))))
    numbers = np.random.default_rng(draw(st.integers(0, 99)))
    there = numbers.normal(size=[2 * shape[axis] for axis in order])
    array = np.transpose(there.astype(draw(st.sampled_from("fd"))), np.argsort(order))
    ways = [(slice(n), slice(None, None, 2), slice(n - 1, None, -1), slice(1)) for n in shape]
    return np.broadcast_to(array[tuple([draw(st.sampled_from(way)) for way in ways])], shape)


FORMULAS = [F.gelu, F.erf, F.erfc, F.erfcx, F.ndtr, F.softplus, F.logsumexp]


@settings(max_examples=20)
@given(laid(), st.sampled_from(FORMULAS))
def test_arrays_keep_their_layout_and_so_the_order_of_sums(x, function):
    def step(x):
        v = core.Variable(x)
        y = function(v)
        return [y, *core.grad([F.sum(y * y) + F.mean(y)], [v])]

    program = core.trace(step, x, kernels=True)
    for found, expected in zip(program(x), step(x), strict=True):
        assert found.array.strides == expected.array.strides
        np.testing.assert_array_equal(found.array, expected.array, strict=True)


@pytest.mark.parametrize("given", ["float16", "float32"])
@pytest.mark.parametrize("takes", [True, False])
@pytest.mark.parametrize("declines", [False, True, "later"])
def test_kernels_see_16_bit_floats_as_eager_shows_them(given, takes, declines, monkeypatch):
    """As they are where they want them so; else widened, or, of gradients, not at all."""
    from plugins.functions.loss.mean_squared_error import MeanSquaredError

    seen, late = [], []

    def declined(what, array):
        seen.append((what, str(array.dtype)))
        return declines is True or bool(late)

    def kernel(f, xp, x, y):
        if declined("compute", x):
            return NotImplemented
        return xp.mean(xp.square(xp.astype(x, "d") - y)).astype(x.dtype)

    def gradient(f, g, needs_grad):
        if declined("gradient", g):
            return NotImplemented
        x, y = (source.data for source in f._sources)
        made = (2 * g / x.size * (x.astype("d") - y)).astype(x.dtype)
        return made, -made

    kernel.takes_halves = gradient.takes_halves = takes
    home = core.backend.host()
    monkeypatch.setitem(home.kernels, MeanSquaredError, kernel)
    monkeypatch.setitem(home.gradient_kernels, MeanSquaredError, gradient)
    p = core.Parameter(np.linspace(-2, 2, 7).astype(given))
    x = np.linspace(1, 3, 7).astype(given)

    def step(x):
        p.cleargrad()
        loss = F.mean_squared_error(p, x)
        loss.backward()
        return loss.array, p.grad

    expected = step(x)
    eager = list(seen)
    program = core.trace(step, x, kernels=True)
    seen.clear()
    if declines == "later":
        late.append(True)
        expected = step(x)
        seen.clear()
    found = program(x)
    if not declines:
        assert seen == eager
        shown = given if takes else "float32"
        assert seen[0] == ("compute", shown)
        assert ("gradient", given) in seen or not (takes or given == "float32")
    assert [(a.tobytes(), a.dtype) for a in found] == [(a.tobytes(), a.dtype) for a in expected]


def test_a_kernel_that_comes_after_a_trace_is_in_the_next_one(monkeypatch):
    from plugins.functions.loss.mean_squared_error import MeanSquaredError

    x = np.linspace(1, 3, 7)

    def step(x):
        v = core.Variable(x)
        y = F.mean_squared_error(v, x * x)
        y.backward()
        return y.array, v.grad

    before = core.trace(step, x, kernels=True)(x)
    home = core.backend.host()
    monkeypatch.setitem(home.kernels, MeanSquaredError, lambda f, xp, x, y: xp.sum(x) + 1)
    monkeypatch.setitem(
        home.gradient_kernels,
        MeanSquaredError,
        lambda f, g, needs_grad: (g + f._sources[0].data, None),
    )
    found = core.trace(step, x, kernels=True)(x)
    for y, expected, other in zip(found, step(x), before, strict=True):
        np.testing.assert_array_equal(y, expected)
        assert np.any(y != other)
