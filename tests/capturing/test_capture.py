"""core.capture: replays have eager's bits, whatever the step does, and whatever is done to it."""

import copy
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
import core.optimizer_hooks as hooks
from core import optimizers

X = np.random.default_rng(0).normal(size=(8, 6)).astype("f")
T = np.array([0, 1, 2, 2, 1, 0, 1, 1], "i")


def state_of(model, optimizer=None):
    """All bits that training depends on."""
    found = {path: p.array.tobytes() for path, p in model.namedparams()}
    found |= {f"{path}.grad": _bits(p.grad) for path, p in model.namedparams()}
    for path, link in model.namedlinks():
        for name in (*link._persistent, *link.carried):
            value = getattr(link, name)
            found[f"{path}/{name}"] = _bits(getattr(value, "array", value))
    if optimizer is not None:
        found["t"] = optimizer.t
        for path, p in model.namedparams():
            rule = p.update_rule
            found[f"{path}:t"] = rule.t
            found |= {f"{path}:{k}": _bits(v) for k, v in (rule.state or {}).items()}
    return found


def _bits(x):
    if isinstance(x, (list, tuple)):
        return [_bits(part) for part in x]
    if isinstance(x, dict):
        return {key: _bits(part) for key, part in x.items()}
    x = getattr(x, "array", x)
    return x.tobytes() if isinstance(x, np.ndarray | np.generic) else x


def without_gradients(state):
    return {key: bits for key, bits in state.items() if not key.endswith(".grad")}


class Run:
    """A training from a seed: `made()` gives model, optimizer and step."""

    def __init__(self, made, captured):
        core.seed(0)
        self.model, self.optimizer, step = made()
        self.step = core.capture(step) if captured else step
        self.reporter = core.Reporter()
        self.reporter.add_observer("main", self.model)
        core.seed(1)

    def __call__(self, *args):
        with self.reporter.scope({}):
            returned = self.step(*args)
            return _bits(returned), _bits(dict(self.reporter.observation))

    def state(self):
        return state_of(self.model, self.optimizer)


@pytest.fixture(autouse=True)
def _no_seed():
    yield
    core.seed(None)


def compare(made, steps, batches=((X, T),), between=lambda run, i: None, replays=True):
    """Both ways through the same steps; gives the captured run."""
    runs = []
    histories = []
    for captured in (False, True):
        run = Run(made, captured)
        history = []
        for i in range(steps):
            between(run, i)
            history.append(run(*batches[i % len(batches)]))
            if i < 10 or i == steps - 1:
                history.append(run.state())
        runs.append(run)
        histories.append(history)
    for i, (one, other) in enumerate(zip(*histories, strict=True)):
        assert one == other, f"entry {i}"
    captured = runs[1].step
    if replays:
        assert captured.reasons == []
        assert captured.replayed >= steps - 1
    return runs[1]


def trained(model, optimizer, loss, *, added=()):
    def made():
        m = model()
        o = optimizer().setup(m)
        for hook in added:
            o.add_hook(hook())

        def step(x, t):
            o.update(lambda: loss(m, x, t))

        return m, o, step

    return made


def mlp():
    return core.Sequential(L.Linear(6, 7), F.tanh, L.BatchNormalization(7), L.Linear(7, 3))


def reported(m, x, t):
    loss = F.softmax_cross_entropy(F.dropout(m(x), 0.2), t)
    core.report({"loss": loss, "top": F.max(m(x))}, m)
    return loss


# -- optimizers and hooks --------------------------------------------------------------------------

OPTIMIZERS = [name for name in dir(optimizers) if name[0].isupper() and name != "LBFGS"]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer(name):
    compare(trained(mlp, getattr(optimizers, name), reported), 100)


HOOKS = [
    lambda: hooks.WeightDecay(1e-2),
    lambda: hooks.Lasso(1e-2),
    lambda: hooks.GradientClipping(0.1),
    lambda: hooks.GradientHardClipping(-0.01, 0.01),
    lambda: hooks.GradientValueClipping(0.01),
    lambda: hooks.GradientNoise(0.1),
    lambda: hooks.GradientLARS(),
]


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook(hook):
    compare(trained(mlp, optimizers.MomentumSGD, reported, added=[hook]), 100)


def test_a_hundred_steps_with_a_schedule_and_frozen_parts():
    def between(run, i):
        run.optimizer.alpha = 0.01 / (1 + i)
        if i % 40 == 20:
            run.model[0].disable_update()
        if i % 40 == 30:
            run.model[0].enable_update()

    run = compare(trained(mlp, optimizers.Adam, reported), 100, between=between)
    assert len(run.step.programs) == 3  # with all, without the first, and before its gradients


def test_loops_of_ones_own():
    def made():
        m = mlp()
        o = optimizers.Adam().setup(m)

        def step(x, t):
            m.cleargrads()
            loss = F.softmax_cross_entropy(m(x), t)
            loss.backward()
            o.update()
            return {"loss": loss, "y": (m(x).array, x)}

        return m, o, step

    run = compare(made, 6)
    assert isinstance(run.step(X, T)["loss"], core.Variable)


def test_several_optimizers_and_updates_in_one_step():
    def made():
        generator, critic = L.Linear(6, 6), L.Linear(6, 1)
        g, c = optimizers.SGD(0.1).setup(generator), optimizers.Adam().setup(critic)

        def step(x, t):
            for _ in range(2):
                fake = generator(x)
                fake.unchain_backward()
                c.update(lambda: F.mean(critic(fake)) - F.mean(critic(x)))  # noqa: B023
                for p in critic.params():
                    p.array = p.xp.clip(p.array, -0.3, 0.3)
            g.update(lambda: -F.mean(critic(generator(x))))
            return F.mean(critic(generator(x)))

        return core.ChainList(generator, critic), g, step

    compare(made, 6)


def test_gradients_are_accumulated_and_left():
    def made():
        m = mlp()
        o = optimizers.SGD(0.1).setup(m)

        def step(x, t):
            F.softmax_cross_entropy(m(x), t).backward()

        return m, o, step

    compare(made, 5)


@core.using_threads(1)  # each has a room of its own to lay factors of products out in
@pytest.mark.parametrize("lossfun", [False, True])
def test_gradients_of_the_last_step_make_room_for_what_the_next_computes(lossfun):
    m = core.Sequential(*[L.Linear(200, 200) for _ in range(10)])
    o = optimizers.SGD(1e-4).setup(m)

    def loss(x):
        return F.mean(m(x))

    def own(x):
        m.cleargrads()
        loss(x).backward()
        o.update()

    step = core.capture((lambda x: o.update(loss, x)) if lossfun else own)
    x = np.ones((200, 200), "f")
    for _ in range(3):
        step(x)
    tracemalloc.start()
    try:
        step(x)
        before = tracemalloc.get_traced_memory()[0]  # with a set of gradients
        tracemalloc.reset_peak()
        step(x)
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert most < 0.5 * 10 * x.nbytes
    kept = m[0].W.grad
    bits = kept.tobytes()
    step(x)
    assert kept.tobytes() == bits
    assert m[0].W.grad is not kept


def test_double_backprop_and_gradients_of_arguments():
    def made():
        m = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 1))
        o = optimizers.Adam().setup(m)

        def step(x, t):
            v = core.Variable(x)
            y = m(v)
            (g,) = core.grad([F.sum(y)], [v], enable_double_backprop=True)
            loss = F.mean((F.sqrt(F.sum(g * g, axis=1)) - 1) ** 2) + F.mean(y)
            m.cleargrads()
            loss.backward()
            o.update()
            return loss, g

        return m, o, step

    compare(made, 5)
    w = core.Parameter(np.ones(3, "f"))
    x, y = (core.Variable(np.arange(3, dtype="f")) for _ in range(2))

    def product(x):
        F.sum(x * x * w).backward()

    step = core.capture(product)
    for _ in range(3):
        x.cleargrad()
        step(x)
    product(y)
    assert step.replayed == 2
    assert x.grad.tobytes() == y.grad.tobytes()
    with pytest.warns(UserWarning, match="whose gradient is to be added to"):
        step(x)
    assert "whose gradient" in str(step.report())
    product(y)
    assert x.grad.tobytes() == y.grad.tobytes()


@pytest.mark.parametrize("clears", [True, False])
def test_a_parameter_of_no_link_is_recorded_once(clears):
    found = []
    for capture in (core.capture, lambda step: step):
        parts = {"w": core.Parameter(np.ones(3, "f"))}

        def made(x, parts=parts):
            if clears:
                parts["w"].cleargrad()
            F.sum((parts["w"] * x) ** 2).backward()
            return parts["w"].grad * 2

        step = capture(made)
        results = [step(np.full(3, i, "f")).tobytes() for i in range(5)]
        found.append((results, parts["w"].grad.tobytes()))
        if capture is core.capture:
            assert "5 calls, 4 of them replayed, 1 recording" in step.report()
    assert found[0] == found[1]


class Recurrent(core.Chain):
    def __init__(self, resets):
        super().__init__()
        self.resets = resets
        with self.init_scope():
            self.embed, self.cell, self.out = L.EmbedID(9, 5), L.LSTM(5, 5), L.Linear(5, 3)

    def forward(self, x, t):
        if self.resets:
            self.cell.reset_state()
        loss = 0
        for i in range(3):
            loss += F.softmax_cross_entropy(self.out(self.cell(self.embed(x[:, i]))), t)
        return loss


@pytest.mark.parametrize("resets", [False, True])
def test_recurrent_state(resets):
    def made():
        m = Recurrent(resets)
        o = optimizers.SGD(0.5).setup(m)

        def step(x, t):
            loss = m(x, t)
            m.cleargrads()
            loss.backward()
            loss.unchain_backward()
            o.update()
            return m.cell.h

        return m, o, step

    words = np.arange(24).reshape(8, 3).astype("i") % 9
    compare(made, 5, [(words, T)])


def test_classifiers_keep_their_results():
    def made():
        m = L.Classifier(mlp())
        o = optimizers.SGD(0.1).setup(m)

        def step(x, t):
            o.update(m, x, t)

        return m, o, step

    run = compare(made, 4)
    run.step(X, T)
    assert run.model.loss.array.shape == run.model.accuracy.array.shape == ()
    assert run.model.y.array.shape == (8, 3)


def test_16_bits_with_a_scaled_loss():
    def model():
        with core.using_config("dtype", "float16"):
            return core.Sequential(L.Linear(6, 4), F.relu, L.Linear(4, 3))

    def made():
        m = model()
        o = optimizers.MomentumSGD(0.1).setup(m)
        o.use_fp32_update()
        o.loss_scaling(scale=8.0)

        def step(x, t):
            o.update(lambda: F.softmax_cross_entropy(m(x.astype("e")), t))

        return m, o, step

    compare(made, 5)


# -- random networks -------------------------------------------------------------------------------

BODIES = {
    "linear": lambda n: L.Linear(n, n),
    "batch normalization": lambda n: L.BatchNormalization(n),
    "layer normalization": lambda n: L.LayerNormalization(n),
    "recurrent": lambda n: L.StatefulGRU(n, n),
    "long short-term memory": lambda n: L.LSTM(n, n),
    "peephole": lambda n: L.StatefulPeepholeLSTM(n, n),
    "maxout": lambda n: L.Maxout(n, n, 2),
    "prelu": lambda n: L.PReLU(),
    "highway": lambda n: L.Highway(n),
    "scale": lambda n: L.Scale(W_shape=(n,)),
}
FUNCTIONS = {
    "tanh": F.tanh,
    "relu": F.relu,
    "gelu": F.gelu,
    "dropout": lambda x: F.dropout(x, 0.3),
    "softmax": F.softmax,
    "sums": lambda x: F.cumsum(x, axis=1),
    "twice": lambda x: F.concat([x, x * x], axis=1)[:, 1 : x.shape[1] + 1],
    "images": lambda x: F.reshape(
        F.average_pooling_2d(F.reshape(F.concat([x] * 4), (len(x), 1, 4, -1)), 2, 1, 0),
        (len(x), -1),
    )[:, : x.shape[1]],
}
LOSSES = {
    "classes": lambda y, t: F.softmax_cross_entropy(y, t),
    "squares": lambda y, t: F.mean_squared_error(y, F.broadcast_to(F.mean(y), y.shape) * 0.5),
    "sum": lambda y, t: F.mean(F.absolute(y)),
}


@st.composite
def networks(draw):
    layers = draw(st.lists(st.sampled_from([*BODIES, *FUNCTIONS]), min_size=1, max_size=4))
    return {
        "layers": layers,
        "tied": draw(st.booleans()),
        "losses": draw(st.lists(st.sampled_from(sorted(LOSSES)), min_size=1, max_size=2)),
        "frozen": draw(st.sampled_from([None, 0, -1])),
        "optimizer": draw(st.sampled_from(["SGD", "Adam", "RMSprop"])),
        "penalty": draw(st.booleans()),
        "own": draw(st.booleans()),
        "width": draw(st.sampled_from([4, 64])),  # many enough for kernels
    }


@given(networks())
def test_random_networks(network):
    def made():
        n = network["width"]
        m = core.ChainList(L.Linear(6, n))
        parts = [m[0]]
        for name in network["layers"]:
            if name in BODIES:
                m.append(BODIES[name](n))
                parts.append(m[-1])
            else:
                parts.append(FUNCTIONS[name])
        m.append(L.Linear(n, n))
        parts += [m[-1], F.tanh] * (2 if network["tied"] else 1)
        if network["frozen"] is not None:
            m[network["frozen"]].disable_update()
        o = getattr(optimizers, network["optimizer"])().setup(m)
        recurrent = [link for link in m if hasattr(link, "reset_state")]

        def forward(x):
            for part in parts:
                x = part(x)
            return x

        def loss_of(x, t):
            y = forward(core.Variable(x))
            loss = sum([LOSSES[name](y, t) for name in network["losses"]])
            if network["penalty"]:
                w = m[0 if network["frozen"] == -1 else -1].W
                (g,) = core.grad([F.sum(F.tanh(w) ** 2)], [w], enable_double_backprop=True)
                loss = loss + 0.1 * F.sum(g * g)
            core.report({"loss": loss})
            for link in recurrent:
                link.reset_state()
            return loss

        def step(x, t):
            if network["own"]:
                m.cleargrads()
                loss = loss_of(x, t)
                loss.backward()
                o.update()
                return loss
            o.update(loss_of, x, t)

        return m, o, step

    repeats = network["width"] // 4
    compare(made, 100, [(np.tile(X, (repeats, 1)), np.tile(T, repeats))])


# -- what is done to a captured step ---------------------------------------------------------------


def simple():
    return trained(mlp, optimizers.Adam, reported)


def test_parameters_that_are_changed_from_outside():
    def between(run, i):
        if i == 3:
            run.model[0].W.array[...] *= 0.5
        if i == 4:
            run.model[0].W.array = run.model[0].W.array * 2
        if i == 5:
            run.model[2].avg_mean[...] = 1
        if i == 6:
            run.model.cleargrads()

    compare(simple(), 8, between=between)


def test_shapes_and_modes_are_recorded_anew():
    def between(run, i):
        core.config.train = i % 3 != 2

    with core.using_config("train", True):
        run = compare(simple(), 9, [(X, T), (X[:5], T[:5])], between)
    assert len(run.step.programs) == 4
    y = core.capture(lambda x: x * 2)
    for dtype in ("f", "d", "f", "d"):
        assert y(np.ones(2, dtype)).dtype == dtype


def test_too_many_signatures_are_left_to_eager():
    step = core.capture(lambda x: x + 1)
    with pytest.warns(UserWarning, match="recorded for 8 signatures"):
        for n in range(12):
            assert step(np.zeros(n, "f")).shape == (n,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(np.zeros(20, "f"))
    assert "not replayed: has been recorded for 8" in step.report()
    assert len(step._found) == 8  # of other shapes nothing is kept


def test_what_is_refused_for_many_shapes_is_tried_no_more(monkeypatch):
    def step(x):
        return x + 1 if float(F.sum(x).array) < 1 else x

    step, tried = core.capture(step), []
    made = step._made
    monkeypatch.setattr(step, "_made", lambda *args: tried.append(args) or made(*args))
    with pytest.warns(UserWarning, match="not replayed"):
        for n in range(1, 30):
            assert step(core.Variable(np.zeros(n, "f"))).shape == (n,)
    assert len(tried) == 8
    assert len(step.reasons) == 1


@pytest.mark.parametrize("of", [float, np.float16, np.float32, np.float64, np.int64, np.bool_])
def test_numbers_are_arguments_of_numpy_as_of_python(of):
    def step(x, rate):
        return x * rate

    captured = core.capture(step)
    for rate in (1, 1, 0, 1, 0, 0):
        y, expected = captured(X, of(rate)), step(X, of(rate))
        assert (y.tobytes(), y.dtype) == (expected.tobytes(), expected.dtype)
    assert "5 of them replayed, 2 recordings" in captured.report()


def of_numbers():
    step = core.capture(lambda x, rate: x * rate)
    return lambda i: step(X, float(i))


def of_what_is_around():
    rates = [0.0]
    step = core.capture(lambda x: x * rates[0])

    def call(i):
        rates[0] = float(i)
        step(X)

    return call


def of_the_configuration():
    step = core.capture(lambda x: x * 2)

    def call(i):
        with core.using_config("of_a_test", i):
            step(X)

    return call


@pytest.mark.parametrize(
    ("made", "cure"),
    [
        (of_numbers, "Give numbers that change from call to call as arrays"),
        (of_what_is_around, "rates is another in each call: give it as an argument, an array"),
        (of_the_configuration, "The configuration, an attribute or a parameter is another"),
    ],
)
def test_too_many_signatures_of_one_shape_name_what_is_another(made, cure):
    call = made()
    with pytest.warns(UserWarning, match=f"recorded for 8 signatures.*{cure}"):
        for i in range(12):
            call(i)


def test_hooks_that_are_added_later():
    def between(run, i):
        if i == 3:
            run.optimizer.add_hook(hooks.WeightDecay(0.1))
        if i == 5:
            run.optimizer.remove_hook("WeightDecay")
        if i == 6:
            run.model[0].W.update_rule.add_hook(hooks.Lasso(0.1))

    compare(simple(), 8, between=between)


def test_attributes_of_links_and_numbers_around_the_step():
    def made():
        m = core.Sequential(L.Linear(6, 3), L.Dropout(0.5))
        o = optimizers.SGD().setup(m)
        rate = [0.1]
        factor = 1.0

        def step(x, t):
            o.update(lambda: F.softmax_cross_entropy(m(x) * factor, t))

        def set_factor(value):
            nonlocal factor
            factor = value

        m.__dict__["set_factor"] = set_factor
        m[1].note = "of nothing"
        del rate
        return m, o, step

    def between(run, i):
        run.model[1].ratio = (0.5, 0.5, 0.5, 0.1, 0.1)[i]
        if i == 3:  # as many attributes, of other names
            del run.model[1].note
            run.model[1].remark = "of nothing"
        if i == 4:
            run.model.set_factor(2.0)

    compare(made, 5, between=between)


SMALL, LARGE = [np.full(3, k, "f") for k in (0.5, 2.0)]


def replace(k):
    return lambda m: setattr(m, "k", k)


@pytest.mark.parametrize(
    ("held", "factor", "change"),
    [
        (lambda: np.float32(0.5), lambda k: k, replace(np.float32(2.0))),
        (lambda: [SMALL], lambda k: k[0], replace([LARGE])),
        (lambda: [SMALL], lambda k: k[0], lambda m: m.k.__setitem__(0, LARGE)),
        (lambda: (SMALL, "text"), lambda k: k[0], replace((LARGE, "text"))),
        (lambda: {"of": [SMALL]}, lambda k: k["of"][0], replace({"of": [LARGE]})),
        (lambda: {"of": [SMALL]}, lambda k: k["of"][0], lambda m: m.k.update(of=[LARGE])),
    ],
)
def test_attributes_of_links_that_hold_numbers_of_numpy_and_structures(held, factor, change):
    class Scaled(core.Chain):
        def __init__(self):
            super().__init__()
            self.k = held()
            with self.init_scope():
                self.below = L.Linear(6, 3)

        def forward(self, x):
            self.latest = [F.relu(x)]  # set by the step itself
            return self.below(x) * factor(self.k)

    def made():
        m = Scaled()
        o = optimizers.SGD().setup(m)
        return m, o, lambda x, t: o.update(lambda: F.softmax_cross_entropy(m(x), t))

    compare(made, 6, between=lambda run, i: change(run.model) if i == 3 else None)


def test_lists_and_dicts_within_each_other_around_the_step():
    settings = {"loss": {"factor": 1.0, "powers": [2, [1.0]]}}

    def made():
        m = L.Linear(6, 3)
        o = optimizers.SGD().setup(m)

        def step(x, t):
            own = settings["loss"]
            y = m(x) ** own["powers"][0] * own["powers"][1][0] * own["factor"]
            o.update(lambda: F.softmax_cross_entropy(y, t))

        return m, o, step

    def between(run, i):
        settings["loss"]["factor"] = 0.5 if i > 2 else 1.0
        settings["loss"]["powers"][0] = 3 if i > 4 else 2
        settings["loss"]["powers"][1][0] = 0.1 if i > 6 else 1.0

    compare(made, 9, between=between)


def test_a_list_within_another_that_the_step_fills():
    log = {"losses": [[]]}

    def step(x):
        log["losses"][0].append(1.0)
        return x * 2

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="log, outside of the step, is changed by it"):
        for _ in range(4):
            captured(X)
    assert log == {"losses": [[1.0] * 4]}


def test_an_argument_with_a_graph_is_left_to_eager():
    below = L.Linear(6, 6)
    captured = core.capture(lambda x: F.sum(x * x).backward())
    captured(below(X))
    expected = below.W.grad
    with pytest.warns(UserWarning, match="an argument comes from a graph"):
        for _ in range(3):
            below.cleargrads()
            captured(below(X))
            assert below.W.grad.tobytes() == expected.tobytes()
    assert captured.replayed == 0
    for _ in range(3):
        x = core.Variable(X)
        captured(x)
        assert x.grad.tobytes() == (2 * X).tobytes()
    assert captured.replayed == 3


def test_a_dict_of_a_link_that_the_step_fills_with_arrays_is_as_it_was():
    link = L.Linear(6, 3)
    link.__dict__["latest"] = {"y": None}

    def step(x):
        link.latest["y"] = F.tanh(link(x)).array
        return link.latest["y"]

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="latest has other entries"):
        for i in range(4):
            assert captured(X * i) is link.latest["y"]
            assert type(link.latest["y"]) is np.ndarray


def test_parts_of_a_model_that_are_replaced():
    def between(run, i):
        if i == 3:
            run.model[1] = F.relu
        if i == 5:
            weights = core.Parameter(np.ones((3, 7), "f"))
            weights.update_rule = run.model[3].W.update_rule
            run.model[3].W = weights
        if i == 7:
            run.model.append(L.Scale(W_shape=(3,)))
            run.optimizer.setup(run.model)

    compare(simple(), 10, between=between)


def test_what_an_update_warns_of_in_a_replay_is_told_at_the_line_of_the_call():
    model = core.Sequential(L.Linear(3, 3), L.Linear(3, 2))
    optimizer = optimizers.SGD().setup(model)
    step = core.capture(lambda x: optimizer.update(lambda: F.sum(model(x))))
    x = np.ones((2, 3), "f")
    for _ in range(3):
        step(x)
    model[1] = L.Linear(3, 2)
    with pytest.warns(UserWarning, match="added to the target after setup") as told:
        step(x)
    assert step.replayed == 3
    assert [each.filename for each in told] == [__file__]


def test_what_depends_on_values_is_left_to_eager():
    def step(x):
        return x * 2 if float(x.sum()) > 0 else x

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="step is not replayed: the value of an array was asked"):
        for _ in range(3):
            assert captured(X).tobytes() == step(X).tobytes()
    assert captured.replayed == 0
    assert "the value of an array" in captured.report()


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (lambda m: lambda x: (m(x), 3), "the number 3"),
        (lambda m: lambda x: core.report({"n": 1}), "reports as 'n'"),
        (lambda m: lambda x: m(x), "has a graph"),
        (lambda m: lambda x: setattr(m, "seen", getattr(m, "seen", 0) + 1), "seen goes from"),
        (lambda m: lambda x: m.W.update_rule.update(m.W), "by its rule"),
    ],
)
def test_what_would_be_frozen_is_left_to_eager(step, reason):
    m = L.Linear(6, 2)
    optimizers.SGD().setup(m)
    m.W.grad = np.ones_like(m.W.array)
    captured = core.capture(step(m))
    with pytest.warns(UserWarning, match=reason), core.Reporter():
        for _ in range(3):
            captured(X)
    assert captured.replayed == 0
    assert isinstance(m.W.array, np.ndarray)


def test_an_exception_in_a_replay_changes_nothing():
    made = trained(mlp, optimizers.Adam, lambda m, x, t: F.softmax_cross_entropy(m(x), t))
    run, other = Run(made, True), Run(made, False)
    for _ in range(3):
        run(X, T)
    before = without_gradients(state_of(run.model, run.optimizer))
    with pytest.raises(Exception, match="expected"):
        run(X, T + 5)
    assert without_gradients(state_of(run.model, run.optimizer)) == before
    assert [p.grad for p in run.model.params()] == [None] * 6

    def refusing(optimizer):
        raise RuntimeError("not now")

    refusing.name = "refusing"
    run.optimizer.add_hook(refusing)
    with pytest.raises(RuntimeError, match="not now"):
        run(X, T)
    assert without_gradients(state_of(run.model, run.optimizer)) == before
    run.optimizer.remove_hook("refusing")
    for _ in range(3):
        other(X, T)
    core.seed(2)
    expected = [other(X, T) for _ in range(3)]
    core.seed(2)
    assert [run(X, T) for _ in range(3)] == expected
    assert run.state() == other.state()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("failing", [1, 2])
def test_an_error_of_the_step_itself_leaves_no_later_one_to_eager(failing, tmp_path):
    full = tmp_path / "full"

    def loss(m, x, t):
        if full.exists():
            raise MemoryError("not now")
        return F.softmax_cross_entropy(m(x), t)

    made = trained(mlp, optimizers.Adam, loss)
    run, other = Run(made, True), Run(made, False)
    for i in range(5):
        if i == failing:
            full.touch()
            for each in (run, other):
                with pytest.raises(MemoryError, match="not now"):
                    each(X, T)
            full.unlink()
        assert run(X, T) == other(X, T)
    assert run.state() == other.state()
    assert run.step.reasons == []
    assert run.step.replayed == 4


@pytest.mark.parametrize("line", range(3, 93, 6))
def test_a_recording_is_interrupted_while_it_puts_back_what_it_took(line):
    made = trained(mlp, optimizers.Adam, lambda m, x, t: F.softmax_cross_entropy(m(x), t))
    run, other = Run(made, True), Run(made, False)
    lines = iter(range(10**6))

    def interrupting(frame, event, argument):
        room = Path(frame.f_code.co_filename).parent.name
        inside = frame.f_code.co_name == "restore" and room in ("capturing", "tracing")
        if event == "line" and inside and next(lines) == line:
            raise KeyboardInterrupt
        return interrupting

    run(X, T), other(X, T)
    before = sys.gettrace()
    sys.settrace(interrupting)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(X, T)
    finally:
        sys.settrace(before)
    assert run.state() == other.state()
    for _ in range(3):
        assert run(X, T) == other(X, T)
    assert run.state() == other.state()


@pytest.mark.parametrize("fuse", [False, True])
def test_labels_that_are_read_after_an_update_are_looked_at_before_it(fuse):
    m, o, update = trained(mlp, optimizers.Adam, lambda m, x, t: reported(m, x, t))()

    def step(x, t, later):
        update(x, t)
        return F.softmax_cross_entropy(m(x), F.reshape(later, (-1,)))

    captured = core.capture(step, fuse=fuse)
    for _ in range(3):
        captured(X, T, T[:, None])
    before = without_gradients(state_of(m, o))
    with pytest.raises(core.errors.OutOfRange):
        captured(X, T, T[:, None] + 5)
    assert without_gradients(state_of(m, o)) == before
    captured(X, T, T[:, None])
    assert captured.reasons == []
    assert captured.replayed == 3


def test_capture_in_capture_and_in_trace():
    inner = core.capture(lambda x: F.tanh(x).array)
    outer = core.capture(lambda x: inner(x) * 2)
    for _ in range(4):
        assert outer(X).tobytes() == (F.tanh(X).array * 2).tobytes()
    assert outer.replayed == 3
    assert len(core.trace(lambda x: outer(x), X).equations) == 2


def test_threads_share_a_captured_step():
    m = mlp()
    step = core.capture(lambda x: m(x).array)
    wrong = []

    def work():
        with core.using_config("train", False), core.no_backprop_mode():
            expected = m(X).array.tobytes()
            for _ in range(50):
                if step(X).tobytes() != expected:
                    wrong.append(1)

    with core.using_config("train", False), core.no_backprop_mode():
        for _ in range(3):
            step(X)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def called(model, x):
    return model(x).array


def twice_called(model, x):
    return model(x) * 1


def test_threads_that_come_first_together():
    """A recording of one thread is nothing that another one sees."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(3):
            model = core.Sequential(*[part for _ in range(5) for part in (L.Linear(6, 6), F.tanh)])
            with core.no_backprop_mode():
                expected = [model(X * i).array.tobytes() for i in range(4)]
            steps = [core.capture(partial(run, model)) for run in (called, twice_called)]
            found = [list[bytes]() for _ in range(4)]

            def work(i, steps=steps, found=found):
                with core.no_backprop_mode():
                    for step in steps * 8:
                        found[i].append(core.as_array(step(X * i)).tobytes())

            threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [[each] * 16 for each in expected]
            assert [step.reasons for step in steps] == [[], []]
            with core.no_backprop_mode():
                for _, step in [(i, step) for i in range(3) for step in steps]:
                    step(X)
            assert all([step.replayed > 0 for step in steps])
    finally:
        sys.setswitchinterval(before)


def test_a_recording_waits_for_no_thread_that_stays_in_a_step(monkeypatch):
    monkeypatch.setattr("core.capturing.gates.PATIENCE", 0.01)
    model, inside, go_on = L.Linear(6, 3), threading.Event(), threading.Event()

    def slow(x):
        inside.set()
        go_on.wait(60)
        return model(x).array

    step = core.capture(lambda x: model(x).array)
    thread = threading.Thread(target=core.capture(slow), args=(X,))
    thread.start()
    inside.wait(60)
    with core.no_backprop_mode():
        for _ in range(3):
            assert step(X).tobytes() == model(X).array.tobytes()
        assert (step.replayed, step.reasons) == (0, [])
        go_on.set()
        thread.join()
        for _ in range(3):
            step(X)
    assert (step.replayed, step.reasons) == (3, [])


def test_a_recording_that_waits_for_a_thread_that_waits_for_it_ends(monkeypatch):
    monkeypatch.setattr("core.capturing.gates.LONGEST", 0.01)
    model, told = L.Linear(6, 3), threading.Event()
    inner = core.capture(lambda x: model(x).array)

    def work():
        try:
            inner(X)
        except core.errors.BackendError:  # W is of the recording
            told.set()

    def step(x):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return model(x).array

    outer = core.capture(step)
    with core.no_backprop_mode():
        for i in range(2):
            assert outer(X * i).tobytes() == model(X * i).array.tobytes()
    assert told.is_set()


def test_a_trace_in_another_thread_is_told_of():
    model, told = L.Linear(6, 3), list[str]()

    def other():
        try:
            core.trace(lambda x: model(x), X)
        except core.errors.TraceError as error:
            told.append(str(error))

    def step(x):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return model(x)

    weights = model.W.array
    core.trace(step, X)
    assert len(told) == 1
    assert "/W is being traced in another thread" in told[0]
    assert model.W.array is weights


def test_it_can_be_switched_off_and_gives_way_to_hooks():
    step = core.capture(lambda x: F.tanh(x).array)
    with core.using_config("capture", False):
        for _ in range(3):
            step(X)
    assert step.calls == 0
    for _ in range(3):
        step(X)
    seen = []

    class Hook(core.FunctionHook):
        name = "seen"

        def forward_preprocess(self, function, inputs):
            seen.append(function.label)

    with Hook():
        step(X)
    assert seen == ["Tanh"]
    assert step.replayed == 2


def test_results_of_earlier_steps_stay():
    m = L.Linear(6, 2)

    def step(x):
        m.cleargrads()
        y = m(x)
        F.sum(y * y).backward()
        return y.array, m.W.grad

    captured = core.capture(step)
    found = [captured(X * i) for i in range(5)]
    for i, (y, g) in enumerate(found):
        expected = step(X * i)
        assert y.tobytes() == expected[0].tobytes()
        assert g.tobytes() == expected[1].tobytes()


def test_attributes_of_the_object_whose_method_is_captured():
    class Trainer:
        factor = 1.0

        def __init__(self):
            self.factor = 2.0

        def step(self, x):
            return F.sum(x * self.factor).array

    trainer = Trainer()
    step = core.capture(trainer.step)
    for factor in (2.0, 2.0, 3.0, 3.0, 2.0):
        trainer.factor = factor
        assert step(X) == trainer.step(X)
    assert len(step.programs) == 2


class Trained(core.Chain):
    """A link with a step of its own."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.below = L.Linear(6, 3)
        self.calls = 2.0

    @core.capture
    def step(self, x, t):
        loss = F.softmax_cross_entropy(self.below(x), t) * self.calls
        self.cleargrads()
        loss.backward()
        for parameter in self.params():
            parameter.array[...] -= 0.1 * parameter.grad
        return loss

    @core.capture
    @staticmethod
    def doubled(x):
        return x * 2


def test_a_method_that_is_decorated():
    def trained(link, step):
        return [step(link, X, T).array.tobytes() for _ in range(4)]

    core.seed(0)
    model = Trained()
    assert model.doubled(X).tobytes() == (X * 2).tobytes()
    copies = model, model.copy("copy"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    expected = trained(model.copy("copy"), Trained.step.function)
    for link in copies:
        assert trained(link, lambda link, *args: link.step(*args)) == expected
        assert link.step.function.__self__ is link
        assert link.step.replayed == 3
        trained(link, Trained.step.function)
    again = [copy.copy(model), model.copy("copy"), copy.deepcopy(model)]
    again.append(pickle.loads(pickle.dumps(model)))
    for link in again:  # of one that has recordings
        assert link.step.function.__self__ is link
        assert link.step.calls == 0
    assert model.step.calls == 4


def test_an_object_that_cannot_keep_recordings():
    class Slotted:
        __slots__ = ()

        @core.capture
        def step(self, x):
            return x

    with pytest.raises(TypeError, match="expected that a Slotted has a dict, to keep recordings"):
        Slotted().step(X)


def test_arrays_from_outside_are_read_anew():
    weights = np.ones(6, "f")
    step = core.capture(lambda x: F.sum(x * weights).array)
    for i in range(4):
        weights[...] = i
        assert step(X) == (X * weights).sum()
    assert step.replayed == 3


def test_operations_on_arrays_from_outside_alone():
    buffer = np.ones((4, 6), "f")

    def step():
        return F.dropout(F.tanh(buffer), 0.5).array

    captured = core.capture(step)
    found = []
    for each in (step, captured):
        core.seed(3)
        for i in range(5):
            buffer[...] = i
            found.append(each().tobytes())
    assert found[:5] == found[5:]
    assert captured.replayed == 4


def test_variables_from_outside():
    w = core.Variable(np.ones(6, "f"))

    def step(x):
        (g,) = core.grad([F.sum(F.tanh(x * w))], [w])
        return g.array

    captured = core.capture(step)
    for i in range(5):
        w.array = np.full(6, i, "f")
        assert captured(X).tobytes() == step(X).tobytes()
    assert captured.replayed == 4
    assert isinstance(w.array, np.ndarray)
    left = core.capture(lambda x: F.sum(x * w).backward())
    with pytest.warns(UserWarning, match="a Variable from outside gets a gradient"):
        for i in range(1, 4):
            left(X)
            np.testing.assert_allclose(w.grad, i * X.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize(
    "backward",
    [
        lambda y, g, w: (setattr(y, "grad", g.array), y.backward()),
        lambda y, g, w: (setattr(y, "grad_var", g), y.backward()),
        lambda y, g, w: core.backward([y], [g]),
        lambda y, g, w: setattr(w, "grad_var", core.grad([y], [w], [g])[0]),
    ],
    ids=["grad", "grad_var", "backward", "core.grad"],
)
@pytest.mark.filterwarnings("error")
def test_gradients_to_start_from_are_read_anew(backward):
    link = L.Linear(3, 2, nobias=True)
    start = core.Variable(np.ones((4, 2), "f"))
    x = np.linspace(-1, 1, 12, dtype="f").reshape(4, 3)

    def step(x):
        link.cleargrads()
        backward(link(x), start, link.W)

    captured = core.capture(step)
    for i in range(1, 5):
        start.array[...] = np.linspace(0, i, 8).reshape(4, 2)
        captured(x)
        np.testing.assert_allclose(link.W.grad, start.array.T @ x, rtol=1e-6)
        assert isinstance(start.array, np.ndarray)
    assert captured.replayed == 3


def test_a_gradient_that_does_not_fit_is_told_as_in_eager():
    with pytest.raises(TypeError, match=r"expected dtype float32, got float64\. Cast it first"):
        core.capture(lambda x: setattr(F.tanh(x), "grad", np.ones((4, 3))))(np.ones((4, 3), "f"))


# -- what a step takes from Python -----------------------------------------------------------------

RATE = 1.0


def rate():
    return RATE


class Stepping:
    """A step with numbers of its own."""

    rate = 1.0

    def __init__(self):
        self.count = 0
        self.settings = {"rate": 1.0}
        self.generator = np.random.default_rng(0)
        self.batches = iter([X * i for i in range(9)])

    def of_an_attribute(self, x):
        return F.tanh(x) * self._rate()

    def _rate(self):
        return self.rate

    def of_a_setting(self, x):
        return F.tanh(x) * self.settings["rate"]

    def of_a_function(self, x):
        return F.tanh(x) * rate()

    def of_the_environment(self, x):
        return F.tanh(x) * float(os.environ.get("RATE", "1"))

    def of_a_count(self, x):
        self.count += 1
        return F.tanh(x) * self.count

    def of_what_was_kept(self, x):
        self.kept = F.tanh(x + getattr(self, "kept", 0)).array
        return self.kept

    def of_numpy(self, x):
        return x + np.random.normal(size=x.shape).astype("f")

    def of_a_generator(self, x):
        return x + self.generator.normal(size=x.shape).astype("f")

    def of_an_iterator(self, x):
        return F.tanh(next(self.batches))


class Settings:
    rate = 1.0


class Rated(core.Chain):
    """A link with numbers of others."""

    def __init__(self):
        super().__init__()
        self.settings = Settings()

    def forward(self, x):
        return F.tanh(x) * self.settings.rate * rate()


def test_numbers_that_links_take_from_elsewhere(monkeypatch):
    link = Rated()
    whole = core.Sequential(F.relu, link)
    for made in (lambda: whole, lambda: lambda x: whole(x) + 1):
        step, captured = made(), core.capture(made())
        for i in range(9):
            if i == 4:
                link.settings.rate = link.settings.rate + 1.0
            if i == 6:
                monkeypatch.setitem(globals(), "RATE", RATE + 1.0)
            assert captured(X).array.tobytes() == step(X).array.tobytes(), i
        assert len(captured.programs) == 3


def _steps_of(monkeypatch, name, captured):
    np.random.seed(0)
    stepping = Stepping()
    step = getattr(stepping, name)
    step = core.capture(step) if captured else step
    found = []
    for i in range(7):
        if i == 5:
            stepping.rate = stepping.settings["rate"] = 2.0
            monkeypatch.setitem(globals(), "RATE", 2.0)
            monkeypatch.setenv("RATE", "2.0")
        found.append(_bits(step(X)))
    monkeypatch.setitem(globals(), "RATE", 1.0)
    monkeypatch.delenv("RATE")
    return found, step, stepping.count


@pytest.mark.parametrize(
    "name", ["of_an_attribute", "of_a_setting", "of_a_function", "of_the_environment"]
)
def test_numbers_that_are_changed_between_steps(monkeypatch, name):
    expected, found = (_steps_of(monkeypatch, name, captured) for captured in (False, True))
    assert found[0] == expected[0]
    assert len(found[1].programs) == 2
    assert found[1].reasons == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("of_a_count", "Stepping.count, outside of the step, is changed"),
        ("of_what_was_kept", "Stepping.kept, outside of the step, is changed"),
        ("of_numpy", "draws from numpy.random itself"),
        ("of_a_generator", "draws from Stepping.generator itself"),
        ("of_an_iterator", "is an iterator, of which a replay would take nothing"),
    ],
)
def test_numbers_that_are_others_in_each_step(monkeypatch, name, reason):
    expected = _steps_of(monkeypatch, name, False)
    with pytest.warns(UserWarning, match=reason):
        found = _steps_of(monkeypatch, name, True)
    assert found[0] == expected[0]
    assert found[2] == expected[2]


def test_rates_that_a_step_reads_or_sets():
    def made(sets):
        m = L.Linear(6, 3)
        o = optimizers.SGD(0.5).setup(m)

        def step(x, t):
            o.update(lambda: F.softmax_cross_entropy(m(x), t) * o.lr)
            if sets:
                o.lr *= 0.5

        return m, o, step

    def between(run, i):
        if i == 4:
            run.optimizer.lr = 0.25

    run = compare(lambda: made(False), 7, between=between)
    assert len(run.step.programs) == 2
    with pytest.warns(UserWarning, match="SGD.lr, outside of the step, is changed"):
        compare(lambda: made(True), 7, between=between, replays=False)


def test_arrays_that_numpy_changes_in_place():
    def made():
        m = L.Linear(6, 3)
        o = optimizers.SGD().setup(m)
        velocities = [np.zeros_like(p.array) for p in m.params()]

        def step(x, t):
            m.cleargrads()
            F.softmax_cross_entropy(m(x), t).backward()
            for p, v in zip(m.params(), velocities, strict=True):
                v *= 0.9
                v += p.grad
                p.array -= 0.1 * v

        return m, o, step

    with pytest.warns(UserWarning, match="changed in place by NumPy itself"):
        compare(made, 5, replays=False)


def test_seeds_in_a_step():
    def step(x):
        core.seed(5)
        return F.dropout(x).array

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="core.seed is called in the step"):
        for _ in range(4):
            assert captured(X).tobytes() == step(X).tobytes()


def test_refusals_that_a_step_takes_no_notice_of():
    def step(x):
        try:
            scale = float(F.max(x).array)
        except Exception:
            scale = 1.0
        return x * scale

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="the value of an array was asked for"):
        for i in range(4):
            assert captured(X * i).tobytes() == step(X * i).tobytes()


def test_parameters_that_are_frozen_in_a_step():
    def made():
        m = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3))
        o = optimizers.MomentumSGD().setup(m)

        def step(x, t):
            if len(x) == 5:
                m[0].disable_update()
            o.update(lambda: F.softmax_cross_entropy(m(x), t))

        return m, o, step

    with pytest.warns(
        UserWarning, match="is frozen, or no longer frozen, at the end of the step or where"
    ):
        compare(made, 4, [(X, T), (X, T), (X, T), (X[:5], T[:5])], replays=False)


def test_parameters_that_are_frozen_for_a_part_of_a_step():
    def made():
        critic = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3))
        m = core.Chain(critic=critic, actor=L.Linear(6, 6))
        of_critic, o = optimizers.Adam().setup(critic), optimizers.Adam().setup(m.actor)

        def step(x, t):
            of_critic.update(lambda: F.softmax_cross_entropy(critic(x), t))
            critic.disable_update()
            loss = -F.mean(critic(m.actor(x)))
            m.actor.cleargrads()
            loss.backward()
            o.update()
            critic.enable_update()
            return loss

        return m, o, step

    compare(made, 5)


def test_steps_that_train_what_is_frozen_outside_of_them_are_left_to_eager():
    def made():
        m = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3))
        o = optimizers.MomentumSGD().setup(m)
        m[0].disable_update()

        def step(x, t):
            m[0].enable_update()
            o.update(lambda: F.softmax_cross_entropy(m(x), t))
            m[0].disable_update()

        return m, o, step

    with pytest.warns(
        UserWarning, match="no longer frozen, at the end of the step or where its optimizer"
    ):
        compare(made, 4, replays=False)


@pytest.mark.parametrize("scale", [None, 8.0])
@pytest.mark.parametrize("parts", [0, 2])
def test_zeros_that_frozen_parameters_get_for_gradients(parts, scale):
    """They held arrays of the recording, which the next look at them was an error of."""
    m = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3))
    m[0].disable_update()
    o = optimizers.SGD().setup(m)
    o.use_cleargrads(False)
    if scale is not None:
        o.set_loss_scale(scale)

    def loss(x, t):
        return F.softmax_cross_entropy(m(x), t)

    accumulated = core.capture(lambda x, t: o.accumulate(0.5, loss, x, t))
    updated = core.capture(lambda x, t: o.update(loss, x, t))
    for _ in range(4):
        for _ in range(parts):
            accumulated(X, T)
        o.update() if parts else updated(X, T)
        for p in m[0].params():
            assert p.grad.tobytes() == bytes(p.array.nbytes)
    assert (accumulated if parts else updated).replayed


@pytest.mark.parametrize("clears", [True, False])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("hook", [None, HOOKS[0], HOOKS[2]])
def test_what_is_frozen_by_turns(hook, own, clears):
    """Zeros of frozen parameters were None in replays."""

    def made():
        m = core.Sequential(L.Linear(6, 5), L.Linear(5, 3))
        o = optimizers.MomentumSGD().setup(m)
        o.use_cleargrads(clears)
        if hook is not None:
            o.add_hook(hook())

        def step(x, t):
            if own:
                m.cleargrads() if clears else m.zerograds()
                F.softmax_cross_entropy(m(x), t).backward()
                o.update()
            else:
                o.update(lambda: F.softmax_cross_entropy(m(x), t))

        return m, o, step

    def between(run, i):
        for k, link in enumerate(run.model):
            link.disable_update() if i // 3 % 3 == k else link.enable_update()

    compare(made, 15, between=between)


def test_gradients_that_frozen_parameters_are_given_are_cleared():
    found = []
    for captured in (False, True):
        core.seed(0)
        m = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3))
        m[0].disable_update()
        o = optimizers.SGD().setup(m)
        step = partial(o.update, lambda x, t, m=m: F.softmax_cross_entropy(m(x), t))
        step = core.capture(step) if captured else step
        for i in range(7):
            if i in (4, 5):
                m[0].W.grad = np.ones_like(m[0].W.array)
            step(X, T)
            found.append(state_of(m, o))
    assert found[:7] == found[7:] and step.replayed == 6


def decay(v):
    v.array[...] *= np.float32(0.9)


def replace_array(v):
    v.array = F.tanh(v).array


@pytest.mark.parametrize("held", ["by name", "in a tuple", "by a link", "as an argument"])
@pytest.mark.parametrize("change", [decay, replace_array])
@pytest.mark.parametrize("make", [core.Variable, core.as_variable])
def test_variables_whose_arrays_the_step_changes(make, change, held):
    def made():
        v, link = make(X.copy()), core.Chain()
        link.v, several = v, (v, 3)

        def step(x, given):
            own = {"by name": v, "in a tuple": several[0], "by a link": link.v}.get(held, given)
            before = F.sum(own)
            change(own)
            return (x * before + F.sum(own) * own.array[0, 0]).array

        return (lambda: link.v if held == "by a link" else v), step

    (one, step), (other, captured) = made(), made()
    captured = core.capture(captured)
    with core.no_backprop_mode(), warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for i in range(5):
            found, expected = captured(X * i, other()), step(X * i, one())
            assert found.tobytes() == expected.tobytes()
            assert type(other().array) is np.ndarray
            assert other().array.tobytes() == one().array.tobytes()
    assert captured.replayed == 4 or "is given another array" in captured.reasons[0]
    assert captured.replayed == 4 or change is replace_array


@pytest.mark.parametrize("fuse", [False, True])
def test_parameters_that_change_places(fuse):
    def made():
        links = [L.Linear(6, 6, initialW=k) for k in range(3)]

        def step(x):
            y = sum([link(x).array * k for k, link in enumerate(links)])
            arrays = [link.W.array for link in links]
            for k, link in enumerate(links):
                link.W.array = arrays[k - 1]
            return y

        return links, step

    with core.no_backprop_mode():
        (links, step), (others, captured) = made(), made()
        captured = core.capture(captured, fuse=fuse)
        for i in range(5):
            np.testing.assert_allclose(captured(X * i), step(X * i), rtol=1e-6 if fuse else 0)
            for one, other in zip(links, others, strict=True):
                assert one.W.array.tobytes() == other.W.array.tobytes()
    assert captured.replayed == 4


class Own(np.ndarray):
    """Arrays that multiply in a way of their own."""

    __array_priority__ = 1

    def __mul__(self, other):
        return np.asarray(self) @ np.asarray(other)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.asmatrix, lambda x: np.ma.masked_array(x, x > 0)])
def test_what_is_no_array_of_a_backend_is_left_to_eager(make):
    x = make(X[:3, :3])
    captured = core.capture(lambda x: x * x)
    with pytest.warns(UserWarning, match="expected arguments of arrays, numbers and text, got a"):
        for _ in range(3):
            assert repr(captured(x)) == repr(x * x)


def test_arrays_with_operations_of_their_own_are_left_to_eager():
    x = X[:3, :3].view(Own)
    captured = core.capture(lambda x: x * x)
    with pytest.warns(UserWarning, match="expected plain arrays, got a"):
        for _ in range(3):
            assert repr(captured(x)) == repr(x * x)
    with pytest.raises(core.errors.TraceError, match="which has operations of its own"):
        core.trace(lambda x: x * x, x)
    for _ in range(3):
        assert captured(X[:3, :3]).tobytes() == (X[:3, :3] ** 2).tobytes()
    assert captured.replayed == 3


def test_arguments_that_share_memory():
    def step(x, y):
        x += 1
        return F.tanh(y).array

    captured = core.capture(step)
    for shared in (False, False, False, True, False):
        found = []
        for each in (step, captured):
            x = X.copy()
            told = pytest.warns(UserWarning, match="array 0, which is changed in place, and")
            with told if shared and each is captured else nullcontext():
                found.append((_bits(each(x, x[:] if shared else X)), _bits(x)))
        assert found[0] == found[1]
    assert captured.replayed == 3


def test_lists_that_a_step_fills_hold_real_arrays():
    seen = []

    def step(x):
        seen.append(F.tanh(x).array)
        return seen[-1]

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="seen, outside of the step, is changed"):
        for _ in range(5):
            captured(X)
    assert len(seen) == 5
    assert {type(each) for each in seen} == {np.ndarray}


# -- trainers --------------------------------------------------------------------------------------


def training(out, capture, epochs=3):
    from core import iterators
    from core.training import Trainer, extensions, updaters

    core.seed(0)
    data = [(x, t) for x, t in zip(X, T, strict=True)]
    model = L.Classifier(core.Sequential(L.Linear(6, 5), F.relu, L.Dropout(0.3), L.Linear(5, 3)))
    optimizer = optimizers.Adam().setup(model)
    optimizer.add_hook(hooks.WeightDecay(1e-3))
    batches = iterators.SerialIterator(data, 3)  # the last one is cut off, or goes on
    updater = updaters.StandardUpdater(batches, optimizer, capture=capture)
    trainer = Trainer(updater, (epochs, "epoch"), out=out)
    test = iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(test, model, capture=capture)
    trainer.extend(evaluator)
    trainer.extend(extensions.ExponentialShift("alpha", 0.7), trigger=(1, "epoch"))
    trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
    trainer.extend(extensions.snapshot(filename="snapshot"), trigger=(1, "iteration"))
    return trainer, model, updater, evaluator


def logged(trainer):
    log = trainer.get_extension("LogReport").log
    return [{k: v for k, v in entry.items() if k != "elapsed_time"} for entry in log]


def test_trainers_capture_and_resume(tmp_path):
    runs = []
    for capture in (False, True):
        trainer, model, updater, evaluator = training(tmp_path / str(capture), capture)
        trainer.run()
        runs.append((logged(trainer), state_of(model, updater.get_optimizer("main"))))
        if capture:
            assert updater.captured.replayed >= 6
            assert evaluator.captured.replayed >= 4
            assert updater.captured.reasons == evaluator.captured.reasons == []
    assert runs[0] == runs[1]
    trainer, model, updater, _ = training(tmp_path / "half", True, epochs=2)
    trainer.run()
    resumed, model, updater, _ = training(tmp_path / "rest", True)
    core.serializers.load_npz(tmp_path / "half" / "snapshot", resumed)
    resumed.run()
    assert state_of(model, updater.get_optimizer("main")) == runs[0][1]


KILLED = """
import os, sys
sys.path.insert(0, {folder!r})
from test_capture import core, logged, state_of, training
from core.training import make_extension

trainer, model, updater, _ = training({out!r}, True)
if os.path.exists({out!r} + "/snapshot"):
    core.serializers.load_npz({out!r} + "/snapshot", trainer)
else:
    @make_extension(trigger=(5, "iteration"), priority=-100)
    def end(trainer):
        assert updater.captured.replayed >= 2
        os.kill(os.getpid(), 9)
    trainer.extend(end)
trainer.run()
print(repr((logged(trainer), state_of(model, updater.get_optimizer("main")))))
"""


def test_a_captured_training_is_killed_and_resumed(tmp_path):
    script = KILLED.format(folder=str(Path(__file__).parent), out=str(tmp_path / "out"))
    ends = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        for _ in range(2)
    ]
    assert ends[0].returncode != 0
    assert ends[1].returncode == 0, ends[1].stderr
    trainer, model, updater, _ = training(tmp_path / "whole", False)
    trainer.run()
    expected = repr((logged(trainer), state_of(model, updater.get_optimizer("main"))))
    assert ends[1].stdout.strip() == expected


def test_an_updater_captures_and_accumulates():
    from core import iterators
    from core.training import updaters

    def trained(capture):
        rng = np.random.default_rng(0)
        data = [(x, np.int32(t)) for x, t in zip(rng.random((22, 4), "f"), range(22), strict=True)]
        np.random.seed(0)
        optimizer = optimizers.Adam().setup(L.Classifier(L.Linear(4, 22)))
        iterator = iterators.SerialIterator(data, 4, shuffle=False)
        updater = updaters.StandardUpdater(iterator, optimizer, accumulate=3, capture=capture)
        found = []
        for _ in range(8):
            with core.Reporter() as reporter:
                reporter.add_observer("main", optimizer.target)
                updater.update()
            found.append(float(core.as_array(reporter.observation["main/loss"])))
            found += [_bits(p.array) for p in optimizer.target.params()]
        return found, updater.captured

    (expected, _), (found, captured) = map(trained, (False, True))
    assert found == expected
    assert (captured.replayed, captured.reasons) == (captured.calls - 1, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"loss_func": lambda m: lambda x, t: m(x, t) * 2},
        {"accumulate": lambda m: 2},
        {"loss_func": lambda m: lambda x, t: m(x, t) * 3, "accumulate": lambda m: 3},
    ],
)
@pytest.mark.parametrize("first", [1, 2])
def test_an_updater_whose_step_becomes_another(changes, first):
    """The first loss was trained on to the end."""
    from core import iterators
    from core.training import updaters

    def trained(capture):
        m = L.Classifier(L.Linear(6, 3, initialW=0.1))
        optimizer = optimizers.Adam().setup(m)
        data = [(x, t) for x, t in zip(X, T, strict=True)]
        iterator = iterators.SerialIterator(data, 4, shuffle=False)
        updater = updaters.StandardUpdater(iterator, optimizer, accumulate=first, capture=capture)
        for i in range(8):
            for name, value in changes.items() if i == 4 else ():
                setattr(updater, name, value(m))
            updater.update()
        return [_bits(p.array) for p in m.params()], updater.captured

    (expected, _), (found, captured) = map(trained, (False, True))
    assert found == expected
    assert captured.replayed and not captured.reasons


def one_part(o, m):
    return lambda x, t: o.accumulate(0.5, lambda: F.softmax_cross_entropy(m(x), t))


def parts_and_update(o, m):
    def step(x, t):
        for half in (slice(None, 2), slice(2, None)):
            o.accumulate(0.5, lambda x, t: F.softmax_cross_entropy(m(x), t), x[half], t[half])
        o.update()

    return step


def losses_and_update(o, m):
    def step(x, t):
        m.cleargrads()
        for half in (slice(None, 2), slice(2, None)):
            F.softmax_cross_entropy(m(x[half]), t[half]).backward()
        o.update()

    return step


@pytest.mark.parametrize("step", [one_part, parts_and_update, losses_and_update])
@pytest.mark.parametrize("rule", [optimizers.Adam, optimizers.LBFGS])
def test_gradients_of_parts(rule, step):
    def made():
        m = core.Sequential(L.Linear(6, 5), F.tanh, L.Linear(5, 3))
        o = rule().setup(m)
        return m, o, step(o, m)

    def between(run, i):
        if step is one_part and i and i % 3 == 0:
            run.optimizer.update()

    compare(made, 9, between=between)


def test_a_line_search_is_left_to_eager():
    m = L.Linear(6, 3)
    o = optimizers.LBFGS().setup(m)
    captured = core.capture(lambda x: o.update(lambda: F.sum(m(x) ** 2)))
    with pytest.warns(UserWarning, match="LBFGS.update.lossfun. evaluates the loss as often as"):
        for _ in range(3):
            captured(X)
    assert (captured.replayed, o.t) == (0, 3)


def test_info_says_what_a_script_captured(tmp_path, capsys):
    from plugrad.commands.main import main

    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport core, numpy as np\n"
        "double = core.capture(lambda x: x * 2)\n"
        "for _ in range(int(sys.argv[1])): double(np.ones(3))\n"
    )
    assert main(["info", "--capture", str(script), "4"]) == 0
    assert "<lambda>: 4 calls, 3 of them replayed, 1 recording" in capsys.readouterr().out


def test_a_captured_step_is_profiled_in_real_steps():
    model = L.Linear(3, 2)
    optimizer = core.optimizers.Adam().setup(model)

    @core.capture
    def step(x, stop=False):
        optimizer.update(lambda: F.sum(model(x)) * (2 if stop else 1))
        return float(x.sum()) if stop else None

    x = np.ones((4, 3), "f")
    profile = step.profile(x)
    assert optimizer.t == 3 + 10 and step.replayed == 2 + 10
    assert profile.by_call()["Adam.update"][1] == 1
    step(x)
    assert step.replayed == 13
    with pytest.warns(UserWarning), pytest.raises(core.errors.TraceError, match="report"):
        step.profile(x, stop=True)


def test_state_of_links_behind_objects_is_read_anew_and_left():
    class Gain(core.Chain):
        def __init__(self):
            super().__init__()
            self.gain = np.ones(3, "f")
            self.add_persistent("shift", np.zeros(3, "f"))

    def changed(x):
        holder.links["gain"].gain *= 2
        holder.links["gain"].shift = holder.links["gain"].shift + 1
        return x * holder.links["gain"].gain + holder.links["gain"].shift

    x, found = np.arange(3, dtype="f"), []
    for captured in (False, True):
        holder = type("Holder", (), {})()
        holder.links = {"gain": Gain()}
        step = core.capture(changed) if captured else changed
        seen = [step(x).tobytes() for _ in range(4)]
        holder.links["gain"].gain = np.array([5, 6, 7], "f")
        found.append([*seen, step(x).tobytes()])
    assert found[0] == found[1]
    assert step.replayed == 4


def test_numbers_of_numpy_before_arrays_among_the_arguments():
    step = core.capture(lambda a, b: F.sum(core.as_variable(a if a.ndim else b) * 2).array)
    x, number = np.arange(3, dtype="f"), np.float32(5)
    for args in [(x, number)] * 3 + [(number, x)] * 3:
        assert step(*args) == 6
    assert step.replayed == 5 and not step.reasons
