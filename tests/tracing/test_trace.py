"""core.trace: what is recorded gives the bits of eager, whatever is inside."""

import copy
import io
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import pytest
from compiled_kernels import taking
from hypothesis import given
from hypothesis import strategies as st
from interruptions import is_interrupted

import core
import core.functions as F
import core.links as L
from core.errors import OutOfRange, TraceError
from core.optimizer_hooks import GradientClipping, WeightDecay

X = np.random.default_rng(0).normal(size=(4, 3)).astype("f")


@pytest.fixture(scope="module", autouse=True)
def formulas():
    """What programs follow: eager has their bits where no compiled kernel takes the arrays."""
    with taking(1 << 40):
        yield


T = np.array([0, 1, 1, 0], "i")


def same(one, other):
    if isinstance(other, dict):
        assert one.keys() == other.keys()
        return all(same(one[key], other[key]) for key in other)
    if isinstance(other, (tuple, list)):
        assert type(one) is type(other)
        return _all_same(one, other)
    if other is None:
        return one is None
    one, other = core.as_variable(one).array, core.as_variable(other).array
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def _all_same(one, other):
    return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))


class Net(core.Chain):
    def __init__(self, *more):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 5)
            self.more = core.Sequential(*more)
            self.l2 = L.Linear(5, 2)

    def forward(self, x):
        return self.l2(self.more(F.tanh(self.l1(x))))


def loss_and_gradients(model):
    def step(x, t):
        model.cleargrads()
        loss = F.softmax_cross_entropy(model(x), t)
        loss.backward()
        return {"loss": loss, "grads": [p.grad for _, p in sorted(model.namedparams())]}

    return step


def state_of(model):
    return {path: array.copy() for path, array in _arrays(model).items()}


def _arrays(model):
    found = {path: p.array for path, p in model.namedparams()}
    for path, link in model.namedlinks():
        own = {n: link.__dict__[n] for n in link._persistent}
        found |= {f"{path}/{n}": a for n, a in own.items() if isinstance(a, np.ndarray)}
    return found


def test_forward_and_gradients_of_a_network():
    model = Net()
    step = loss_and_gradients(model)
    program = core.trace(step, X, T)
    assert [place.name for place in program.places] == ["/l1/W", "/l1/b", "/l2/W", "/l2/b"]
    assert same(program(X, T), step(X, T))
    for p in model.params():
        p.array[...] *= 2  # parameters are read when the program runs
    assert same(program(X[::-1], T), step(X[::-1], T))


def test_tracing_changes_nothing():
    model = Net(L.BatchNormalization(5))
    optimizer = core.optimizers.Adam().setup(model)
    step = loss_and_gradients(model)
    step(X, T)
    before, grads = state_of(model), [p.grad for p in model.params()]
    random = core.backend.random_state()
    core.trace(lambda x, t: optimizer.update(lambda: F.sum(F.dropout(model(x)))), X, T)
    assert same(state_of(model), before)
    assert all(p.grad is g for p, g in zip(model.params(), grads, strict=True))
    assert core.backend.random_state() == random
    assert optimizer.t == 0 and {p.update_rule.t for p in model.params()} == {0}
    assert same(step(X, T), step(X, T))

    def failing(x):
        step(x, T)
        raise KeyError("mine")

    with pytest.raises(KeyError):
        core.trace(failing, X)
    assert same(state_of(model)["/l1/W"], before["/l1/W"])
    assert isinstance(model.l1.W.array, np.ndarray) and model.l1.W.xp is np


OPTIMIZERS = [
    ("SGD", {}),
    ("MomentumSGD", {}),
    ("NesterovAG", {}),
    ("RMSprop", {}),
    ("AdaGrad", {}),
    ("AdaDelta", {}),
    ("SMORMS3", {}),
]


@pytest.mark.parametrize(("name", "arguments"), OPTIMIZERS)
def test_updates_have_the_bits_of_eager(name, arguments):
    models = Net(), Net()
    models[1].copyparams(models[0])
    optimizers = [getattr(core.optimizers, name)(**arguments).setup(model) for model in models]
    for optimizer in optimizers:
        optimizer.add_hook(core.optimizer_hooks.WeightDecay(0.01))
    eager, traced = (
        lambda x, t, m=model, o=optimizer: o.update(lambda: F.softmax_cross_entropy(m(x), t))
        for model, optimizer in zip(models, optimizers, strict=True)
    )
    program = core.trace(traced, X, T)
    for i in range(3):
        eager(X + i, T)
        program(X + i, T)
        assert same(state_of(models[1]), state_of(models[0]))
    version = models[1].l1.W.version
    program(X, T)
    assert models[1].l1.W.version == version + 1


def counts(model, optimizer):
    return optimizer.t, sorted({p.update_rule.t for p in model.params()})


def test_steps_are_counted_when_the_program_runs():
    model = Net()
    optimizer = core.optimizers.MomentumSGD().setup(model)
    program = core.trace(lambda x: optimizer.update(lambda: F.sum(model(x))), X)
    assert counts(model, optimizer) == (0, [0])
    for _ in range(3):
        program(X)
    assert counts(model, optimizer) == (3, [3])


def test_rules_whose_numbers_follow_the_count_are_not_run_with_those_of_another_step():
    models = Net(), Net()
    models[1].copyparams(models[0])
    optimizers = [core.optimizers.Adam().setup(model) for model in models]
    loss = [lambda x, m=model: F.sum(m(x) ** 2) for model in models]
    for step in range(3):
        program = core.trace(lambda x: optimizers[1].update(loss[1], x), X)
        program(X)
        optimizers[0].update(loss[0], X)
        assert same(state_of(models[1]), state_of(models[0]))
        with pytest.raises(TraceError, match=rf"AdamRule\) .* those of step {step + 1};"):
            program(X)
        assert same(state_of(models[1]), state_of(models[0]))
        assert counts(models[1], optimizers[1]) == (step + 1, [step + 1])


def test_changed_hyperparameters_are_refused():
    model = Net()
    optimizer = core.optimizers.SGD(lr=0.1).setup(model)
    program = core.trace(lambda x: optimizer.update(lambda: F.sum(model(x))), X)
    program(X)
    optimizer.lr = 0.2
    before = state_of(model)
    with pytest.raises(TraceError, match=r"\{'lr': 0.2\}, than at the trace, \{'lr': 0.1\}"):
        program(X)
    assert same(state_of(model), before)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda model, optimizer, decay: model.disable_update(), r"is frozen now"),
        (
            lambda model, optimizer, decay: optimizer.add_hook(GradientClipping(1.0)),
            r"WeightDecay\{'rate': 0.5\}, GradientClipping\{.*\}, and WeightDecay\{'rate': 0.5\}",
        ),
        (lambda model, optimizer, decay: optimizer.remove_hook("WeightDecay"), "none, and WeightD"),
        (lambda model, optimizer, decay: setattr(decay, "rate", 0.25), "'rate': 0.25}, and Weight"),
    ],
)
def test_parameters_that_are_frozen_and_hooks_that_change_are_refused(change, told):
    model, decay = Net(), WeightDecay(0.5)
    optimizer = core.optimizers.SGD(lr=0.1).setup(model)
    optimizer.add_hook(decay)
    program = core.trace(lambda x: optimizer.update(lambda: F.sum(model(x))), X)
    program(X)
    before = state_of(model)
    change(model, optimizer, decay)
    with pytest.raises(TraceError, match=told):
        program(X)
    assert same(state_of(model), before)


def test_running_averages_move_whenever_the_program_runs():
    eager, traced = Net(L.BatchNormalization(5)), Net(L.BatchNormalization(5))
    traced.copyparams(eager)
    program = core.trace(traced, X)
    for i in range(3):
        assert same(program(X * (i + 1)), eager(X * (i + 1)))
        assert same(state_of(traced), state_of(eager))
    with core.using_config("train", False):
        program = core.trace(traced, X)
        assert same(program(X), eager(X)) and same(state_of(traced), state_of(eager))


def test_gradients_that_parameters_have_are_those_of_each_run():
    link = L.Linear(2, 1, nobias=True)

    def step(x):
        F.sum(link(x)).backward()
        return link.W.grad

    link.W.grad = np.zeros((1, 2), "f")
    program = core.trace(step, np.ones((3, 2), "f"))
    for before in (10, 20):
        link.W.grad = np.full((1, 2), before, "f")
        assert program(np.ones((3, 2), "f")).tolist() == [[before + 3] * 2]


@pytest.mark.parametrize("seed", [None, 5])
def test_draws_are_made_anew(seed):
    model = Net(lambda x: F.dropout(x, 0.5), lambda x: F.gaussian(x, x * 0))
    program = core.trace(model, X)
    before = core.backend.random_state()
    try:
        core.seed(seed)
        start = core.backend.random_state()
        first, second = program(X), program(X)
        core.backend.set_random_state(start)
        assert same([first, second], [model(X), model(X)])
        assert not same(first, second)
    finally:
        core.backend.set_random_state(before)


def test_equal_draws_stay_apart_and_unused_ones_are_made():
    def function(x):
        F.dropout(x)
        return F.dropout(x) + F.dropout(x)

    program = core.trace(function, X)
    assert sum(equation.call.kind == "random" for equation in program.equations) == 3
    state = core.backend.random_state()
    found = program(X)
    core.backend.set_random_state(state)
    assert same(found, function(X))


def test_gradients_of_gradients():
    def penalty(x):
        x = core.Variable(x)
        (gx,) = core.grad([F.sum(F.tanh(x) ** 3)], [x], enable_double_backprop=True)
        (ggx,) = core.grad([F.sum(gx * gx)], [x])
        return gx, ggx

    assert same(core.trace(penalty, X)(X), penalty(X))


def test_structures_of_arguments_and_results():
    def function(batch, pair):
        x, y = batch["x"], pair[0]
        return {"sum": x + y, "rest": [(x, None, 3), core.as_variable(y) * 2]}

    program = core.trace(function, {"x": X}, (core.Variable(X), T))
    found = program({"x": X}, (core.Variable(X), T))
    assert same(found["sum"], X + X) and found["rest"][0][1:] == (None, 3)
    assert isinstance(found["sum"], core.Variable)
    with pytest.raises(TraceError, match=r"expected the arguments \(\{'x': array\}, \(variable"):
        program({"y": X}, (X, T))


class Named(dict):
    """A dict whose entries are attributes."""

    __getattr__ = dict.__getitem__


class Rows(list):
    """A list with an attribute."""

    name = ""


@pytest.mark.parametrize("how", [core.capture, lambda f: core.trace(f, structures(0)), core.vmap])
def test_dicts_and_lists_keep_their_class(how):
    run = how(swapped)
    for i in range(4):
        found, expected = run(structures(i)), swapped(structures(i))
        assert list(found) == list(expected)
        assert [type(x) for x in (found, *found.values())] == [Named, OrderedDict, Rows, np.ndarray]
        assert found.rest[0].tobytes() == expected.rest[0].tobytes()
        assert found.rest.name == "rows"
        assert found.last.tobytes() == expected.last.tobytes()
        assert list(found.all) == ["b", "a"]


def structures(i):
    rows = Rows([np.ones(3) * i])
    rows.name = "rows"
    return Named(x=np.ones((3, 2)) * i, rest=rows, all=OrderedDict(b=np.ones(3), a=np.ones(3)))


def swapped(given):
    rows = copy.copy(given.rest)
    rows[0] = rows[0] * 2
    return Named(all=given.all, rest=rows, last=given.x + 1)


def test_a_variable_is_given_once():
    v = core.Variable(X)
    with pytest.raises(TraceError, match="a Variable is among the arguments twice"):
        core.trace(lambda a, b: core.grad([F.sum(a * b * b)], [a]), v, {"b": [v]})
    program = core.trace(lambda a, b: F.sum(a * b), core.as_variable(X), core.Variable(X))
    assert program(v, v).array == F.sum(v * v).array


def test_an_argument_that_holds_arrays_is_the_same_one_or_refused():
    @dataclass
    class Batch:
        x: object

    batch = Batch(np.ones(3))
    program = core.trace(lambda batch, x: batch.x * x, batch, np.ones(3))
    np.testing.assert_array_equal(program(batch, np.full(3, 2.0)), np.full(3, 2.0))
    with pytest.raises(core.errors.TraceError, match="expected the arguments"):
        program(Batch(np.zeros(3)), np.ones(3))


def test_other_shapes_and_dtypes_are_refused_and_nothing_is_changed():
    model = Net()
    optimizer = core.optimizers.SGD().setup(model)
    program = core.trace(lambda x: optimizer.update(lambda: F.sum(model(x))), X)
    before = state_of(model)
    with pytest.raises(TraceError, match=r"argument array 0 to be float32\[4, 3\], got float32\[2"):
        program(X[:2])
    with pytest.raises(TraceError, match=r"got float64\[4, 3\]"):
        program(X.astype("d"))
    model.l1.b.array = np.zeros(5)
    with pytest.raises(TraceError, match=r"/l1/b to be float32\[5\], got float64\[5\]"):
        program(X)
    assert same(model.l1.W.array, before["/l1/W"])


def test_a_link_that_looks_at_a_value_is_named():
    class Looking(core.Link):
        def forward(self, x):
            return x * float(x[0, 0])

    with pytest.raises(TraceError, match=r" \(in / \(Looking\), at .*test_trace.py:"):
        core.trace(Looking(), X)


def test_a_program_within_a_trace_is_refused_with_a_cure():
    program = core.trace(F.tanh, X)
    within = [
        lambda: core.trace(lambda x: program(x) * 2, X),
        lambda: core.vmap(core.trace(F.tanh, X[0]))(X),
        lambda: core.export.onnx(program, X, io.BytesIO()),
    ]
    for call in within:
        with pytest.raises(
            TraceError, match="vmap or an export, call the function that was traced"
        ):
            call()


def test_labels_are_checked_whenever_the_program_runs():
    program = core.trace(loss_and_gradients(Net()), X, T)
    told = rf"SoftmaxCrossEntropy: expected numbers in \[0, 2\), got 2 at \({T.argmax()},\)"
    with pytest.raises(OutOfRange, match=told):
        program(X, T + 1)
    scope = {}
    exec(program.source(), scope)
    with pytest.raises(IndexError, match=told):
        scope["program"](X, T + 1, {place.name: place.read() for place in program.places})


def test_links_without_sizes_get_them():
    model = core.Sequential(L.Linear(4), F.relu, L.Linear(2))
    program = core.trace(model, X)
    assert same(program(X), model(X))
    model[0].W.array[...] *= 2
    assert same(program(X), model(X))


def test_arrays_from_outside_are_broadcast_beside_those_of_the_trace():
    """They were of two backends."""
    outside = np.arange(2.0, dtype="f")[:, None, None]
    program = core.trace(lambda x: [*F.broadcast(x, outside), *F.broadcast(outside, x)], X)
    for found in (program(X), program(X + 1)):
        assert [y.shape for y in found] == [(2, 4, 3)] * 4
    assert same(program(X)[0].array, np.stack([X, X]))
    assert same(program(X)[1].array, np.broadcast_to(outside, (2, 4, 3)))


def test_arrays_from_outside_are_constants():
    outside = np.arange(3.0, dtype="f")
    program = core.trace(lambda x: (core.Variable(x) * outside, x + outside), X)
    expected = X * outside
    outside += 1
    assert same(program(X), (expected, X + (outside - 1)))
    program(X)[0].array[...] = 0
    assert same(program(X)[0], expected)


def test_results_do_not_share_memory_with_constants():
    program = core.trace(lambda x: np.zeros(3) if x.shape else x, np.ones(1))
    program(np.ones(1))[...] = 5
    assert program(np.ones(1)).tolist() == [0, 0, 0]


def test_results_may_be_views_of_parameters_that_change():
    model = L.Linear(3, 2)
    optimizer = core.optimizers.SGD(lr=0.5).setup(model)

    def step(x):
        old = model.W.array.T.copy(), model.W.array.T
        optimizer.update(lambda: F.sum(model(x)))
        return old

    before = model.W.array.copy()
    old, present = core.trace(step, X)(X)
    assert same(old, before.T.copy())
    assert same(np.ascontiguousarray(present), np.ascontiguousarray(model.W.array.T))


def test_a_trace_inside_a_trace_is_refused():
    with pytest.raises(TraceError, match="another trace is under way"):
        core.trace(lambda x: core.trace(lambda y: y, x), X)


def test_state_that_recurrent_links_carry():
    eager, traced = L.LSTM(3, 2), L.LSTM(3, 2)
    traced.copyparams(eager)
    with pytest.raises(TraceError, match=r"/h has no value before the call and one after it"):
        core.trace(traced, X)
    assert traced.h is None
    for link in (eager, traced):
        link(X)
        link.h.unchain_backward()
        link.c.unchain_backward()
    program = core.trace(traced, X)
    for i in range(3):
        assert same(program(X + i), eager(X + i))
    assert same((traced.h, traced.c), (eager.h, eager.c))

    def sequence(xs):
        traced.reset_state()
        y = [traced(x) for x in xs][-1]
        traced.reset_state()
        return y

    traced.reset_state()
    assert same(core.trace(sequence, [X, X + 1])([X, X + 1]), sequence([X, X + 1]))


def test_numbers_that_links_keep_are_refused_when_they_change():
    model = Net(L.BatchNormalization(5))
    model.more.forward = lambda x: model.more[0](x, finetune=True)
    with pytest.raises(TraceError, match="/more/0/N went from 0 to 1"):
        core.trace(model, X)
    assert model.more[0].N == 0


def test_a_strangers_operation_in_the_general_form():
    class Cube(core.FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0,))
            y = inputs[0].copy()
            y *= inputs[0]
            np.multiply(y, inputs[0], out=y)
            return (y,)

        def backward(self, indexes, grad_outputs):
            (x,) = self.get_retained_inputs()
            return (grad_outputs[0] * x * x * 3.0,)

    def function(x):
        x = core.Variable(x)
        (y,) = Cube().apply((x,))
        return y, *core.grad([F.sum(y)], [x])

    assert same(core.trace(function, X)(X), function(X))


def test_the_text_names_operations_and_links():
    text = str(core.trace(loss_and_gradients(Net()), X, T))
    assert "  # LinearFunction in /l1 (Linear)\n" in text
    assert "  # LinearFunction, backward in /l2 (Linear)\n" in text
    assert "p0: float32[5, 3] = /l1/W\n" in text


def test_what_runs_without_gradients_or_arguments():
    assert core.trace(lambda: np.ones(3) + 1)().tolist() == [2, 2, 2]


def test_an_argument_that_changes_in_place_shares_its_memory_with_no_other():
    def function(x, y):
        x += y
        return x * y

    program, x = core.trace(function, X, X), X.copy()
    assert same(program(x, X), (X + X) * X)
    for other in (x, x[:]):
        with pytest.raises(TraceError, match="array 0, which is changed in place, .* Copy one"):
            program(x, other)
    assert x.tolist() == (X + X).tolist()


def test_not_a_number_is_the_argument_that_it_was():
    program = core.trace(lambda x, fill: x + fill, X, float("nan"))
    assert np.isnan(program(X, float("nan"))).all()


@pytest.mark.parametrize(
    ("function", "number"), [(np.ldexp, 3), (np.float_power, 0.1), (np.add, 0.1), (np.maximum, 1)]
)
def test_numbers_are_of_the_dtype_in_which_numpy_takes_them(function, number):
    program = core.trace(lambda x: function(np.abs(x), number), X)
    np.testing.assert_array_equal(program(X), function(np.abs(X), number), strict=True)


def interrupted(function, line):
    """Whether a trace begins, or ends, for so many lines that it can be interrupted there."""
    lines = iter(range(10**6))

    def interrupting(frame, event, argument):
        code = frame.f_code
        inside = {code.co_name, frame.f_back.f_code.co_name} & {"enter", "leave", "go_on", "stop"}
        if event == "line" and inside and "tracing" in code.co_filename and next(lines) == line:
            raise KeyboardInterrupt
        return interrupting

    return is_interrupted(function, interrupting)


@pytest.mark.parametrize("around", [lambda f: f, core.vmap], ids=["alone", "within"])
def test_a_trace_that_is_interrupted_as_it_begins_or_ends_leaves_nothing_behind(around):
    model = L.Linear(3, 2)
    function, x = around(lambda x: model(x[None])), np.ones((4, 3), "f")
    expected, line = model(x).array, 0
    while interrupted(lambda: core.trace(function, x[0] if around is not core.vmap else x), line):
        assert (model(x).array == expected).all()
        line += 1
    assert line > 20


def test_traced_arrays_stay_in_their_thread():
    found = []

    def use(x):
        try:
            F.relu(x)
        except TraceError as error:
            found.append(str(error))

    def function(x):
        thread = threading.Thread(target=use, args=(x,))
        thread.start()
        thread.join()

    core.trace(function, X)
    assert "in another thread" in found[0]


def test_a_profile_says_where_the_time_goes():
    def slow_and_fast(x):
        return (x @ x @ x @ x @ x).sum() + x[0, 0]

    x = np.ones((300, 300))
    profile = core.trace(slow_and_fast, x).profile(x)
    assert profile.by_call()["matmul"][1] == 4 and len(profile.lines) == 7
    assert 0.5 * profile.seconds < profile.by_call()["matmul"][0] < profile.seconds
    lines = repr(profile).splitlines()
    assert lines[0].split() == ["microseconds", "calls"] and lines[3].split()[0] == "matmul"


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.integers(0, 3), max_size=2),
    st.integers(-3, 2),
)
def test_rows_that_are_taken_have_numpys_shapes(shape, of, axis):
    axis = axis % len(shape) - (len(shape) if axis < 0 else 0)
    x, index = np.arange(np.prod(shape), dtype="f").reshape(shape), np.zeros(of, "i")

    def function(x, index):
        y = np.take(x, index, axis=axis)
        return y, y.shape

    made, expected = core.trace(function, x, index)(x, index), np.take(x, index, axis=axis)
    assert made[1] == expected.shape == made[0].shape
    assert made[0].tobytes() == expected.tobytes() and made[0].dtype == expected.dtype


def test_a_model_with_float32_masters_is_traced_and_its_step_refused():
    with core.using_config("dtype", core.mixed16):
        model = core.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 3))
    optimizer = core.optimizers.Adam().setup(model)
    optimizer.use_fp32_update()
    x = X.astype("float16")

    def step(x):
        optimizer.update(lambda: F.softmax_cross_entropy(model(x), T))

    for steps in range(2):
        np.testing.assert_array_equal(core.trace(model, x)(x).array, model(x).array)
        before = [p.array.copy() for p in model.params()]
        with pytest.raises(TraceError, match="/0/W has a float32 master, .* outside"):
            core.trace(step, x)
        for parameter, array in zip(model.params(), before, strict=True):
            np.testing.assert_array_equal(parameter.array, array)
        assert optimizer.t == steps
        step(x)
