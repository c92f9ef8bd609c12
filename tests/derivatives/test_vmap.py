"""core.vmap: what it computes for all examples is what a loop over them computes."""

import tracemalloc

import numpy as np
import pytest
from all_ops import CHECKED
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.arrays.backend import host
from core.derivatives import batching
from core.errors import NotDifferentiable, TraceError
from core.testing.replay import formulas_alone
from core.testing.strategies import cases
from core.testing.tolerances import assert_near, tolerance
from core.testing.trial import Trial

LEFT_OUT = {
    n: reason
    for n, op in CHECKED.items()
    for reason in set(op.domain.leave_out.values()) & {"random", "depends on values"}
}
"""Ops that draw, each example its own numbers; and the one that cannot be traced."""


def calling(trial, cotangents):
    """Outputs and gradients of an op as a function of arrays."""

    def call(arrays, cotangents):
        inputs = trial.variables(arrays)
        outputs = trial.run(inputs)
        pairs = [
            (y, core.Variable(g))
            for y, g in zip(outputs, cotangents, strict=True)
            if g is not None and y.requires_grad
        ]
        targets = [x for x in inputs if x.requires_grad]
        found = []
        if pairs and targets:
            found = core.grad([y for y, _ in pairs], targets, [g for _, g in pairs])
        return [y.array for y in outputs], [None if g is None else g.array for g in found]

    return call


@pytest.mark.parametrize("name", sorted(set(CHECKED) - set(LEFT_OUT)))
@settings(max_examples=3)
@given(data=st.data())
def test_every_op_computes_for_all_examples_what_it_computes_for_each(name, data):
    case = data.draw(cases(CHECKED[name]))
    several = [case, *case.others(2)]
    trials = [Trial(each, host(), None, "solution") for each in several]
    dtype = trials[0].dtypes()[0]
    rows = [trial.arrays(dtype) for trial in trials]
    random = np.random.default_rng(case.seed)

    def cotangent(y):
        if y.array is None or y.array.dtype.kind != "f":
            return None
        return random.normal(size=y.shape).astype(y.dtype)

    outputs = [trial.run(trial.variables(row)) for trial, row in zip(trials, rows, strict=True)]
    weights = [[cotangent(y) for y in ys] for ys in outputs]
    call = calling(trials[0], weights[0])
    with formulas_alone(trials[0]):
        expected = [call(row, w) for row, w in zip(rows, weights, strict=True)]
    stacked = [np.stack(columns) for columns in zip(*rows, strict=True)]
    along = [None if w[0] is None else np.stack(w) for w in zip(*weights, strict=True)]
    found = core.vmap(call)(stacked, along)
    for part, whole in enumerate(found):
        for i, y in enumerate(whole):
            of_each = [each[part][i] for each in expected]
            assert (y is None) == (of_each[0] is None)
            if y is not None:
                allowed = tolerance("solution", str(y.dtype))
                assert_near(y, np.stack(of_each), allowed, f"result {i} of {case!r}")


X = np.random.default_rng(0).normal(size=(5, 3)).astype("f")
T = np.array([0, 1, 1, -1, 0], "i")


def near(one, other):
    np.testing.assert_allclose(core.as_array(one), core.as_array(other), rtol=1e-5, atol=1e-6)


class Words(core.Chain):
    """Embedding, recurrence, attention, convolution and normalization in one network."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 4)
            self.conv = L.Convolution1D(4, 4, 3, pad=1)
            self.norm = L.LayerNormalization(4)
            self.cell = L.StatelessLSTM(4, 4)
            self.out = L.Linear(4, 3)

    def forward(self, words):
        x = self.embed(words)
        x = x + F.softmax(x @ F.swapaxes(x, 1, 2)) @ x
        x = F.swapaxes(self.conv(F.swapaxes(x, 1, 2)), 1, 2)
        x = F.reshape(self.norm(F.reshape(x, (-1, 4))), x.shape)
        c = h = None
        for i in range(words.shape[1]):
            c, h = self.cell(c, h, x[:, i])
        return self.out(h)


def per_example(model):
    def gradients(x, t):
        loss = F.softmax_cross_entropy(model(x[None]), t[None])
        return loss, dict(enumerate(core.grad([loss], list(model.params()))))

    return gradients


NETWORKS = {
    "dense": (core.Sequential(L.Linear(3, 6), F.gelu, L.Linear(6, 2)), X),
    "words": (Words(), np.random.default_rng(1).integers(0, 7, (5, 4)).astype("i")),
    "images": (
        core.Sequential(
            L.Convolution2D(2, 3, 3, pad=1),
            F.relu,
            lambda x: F.max_pooling_2d(x, 2),
            L.Linear(12, 2),
        ),
        np.random.default_rng(2).normal(size=(5, 2, 4, 4)).astype("f"),
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_each_example(name):
    model, x = NETWORKS[name]
    function = per_example(model)
    losses, gradients = core.vmap(function)(x, T)
    for i in range(len(x)):
        loss, expected = function(x[i], T[i])
        near(losses[i], loss)
        for key, g in expected.items():
            near(gradients[key][i], g)
    assert all(p.grad is None for p in model.params())
    assert losses.requires_grad and not any([g.requires_grad for g in gradients.values()])
    program = core.trace(core.vmap(function), x, T)
    assert {place.name for place in program.places} == {path for path, _ in model.namedparams()}
    for p in model.params():
        p.array[...] *= 1.5  # parameters are read when the program runs
    for found, expected in zip(
        program(x, T)[1].values(), core.vmap(function)(x, T)[1].values(), strict=True
    ):
        near(found, expected)


@given(st.integers(-3, 2), st.integers(-3, 2), st.integers(-3, 2), st.booleans())
def test_axes(one, other, out, tuples):
    x, y = np.moveaxis(X[:, :, None], 0, one), np.moveaxis(X[:, None] * 2, 0, other)

    def function(pair, z):
        return {"sum": [pair[0] + pair[1] * z], "same": z * 2}

    axes = ((one, other), None) if tuples else ([one, other], None)
    pair = (x, y) if tuples else [x, y]
    found = core.vmap(function, axes, {"sum": out, "same": None})(pair, np.float32(3)[None])
    near(np.moveaxis(found["sum"][0], out, 0), X[:, :, None] + X[:, None] * 6)
    assert found["same"].tolist() == [6]
    assert core.vmap(lambda x: x * 0 + T[:2], out_axes=1)(X[:, :2]).shape == (2, 5)
    assert core.vmap(lambda x: T[:2] * 2)(X).tolist() == [[0, 2]] * 5
    assert core.vmap(F.sum)(X[:0]).shape == (0,)


@pytest.mark.parametrize("chunk_size", [1, 2, 5, 7])
def test_some_examples_at_a_time(chunk_size):
    w = core.Variable(X[:3, :2])

    def function(pair, z):
        return {"product": core.as_variable(pair["x"]) @ w * pair["y"], "same": z * 2, "one": 1}

    axes = ({"x": 0, "y": -1}, None), {"product": -1, "same": None, "one": 0}
    given = {"x": core.Variable(X), "y": X.T[:2].copy()}, X[0]
    found = core.vmap(function, *axes, chunk_size=chunk_size)(*given)
    expected = core.vmap(function, *axes)(*given)
    assert found["one"] == 1 and type(found["same"]) is np.ndarray
    for name in ("product", "same"):
        near(found[name], expected[name])
    wanted = [w, given[0]["x"]]
    for one, other in zip(
        *[core.grad([F.sum(y["product"] ** 2)], wanted) for y in (found, expected)], strict=True
    ):
        near(one, other)
    traced = core.trace(core.vmap(F.exp, chunk_size=chunk_size), X)
    near(traced(X), np.exp(X))


def test_one_within_another_and_within_derivatives():
    x, y = X, X[:4] + 1

    def distance(v, w):
        return F.sqrt(F.sum((v - w) ** 2))

    inner = core.vmap(distance, (None, 0))
    table = core.vmap(inner, (0, None))
    expected = np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))
    near(table(x, y), expected)
    near(core.trace(table, x, y)(x, y), expected)
    near(core.vmap(lambda v: inner(v * 2, y))(x), table(x * 2, y))  # y is from outside
    near(core.vmap(lambda v: core.vmap(lambda w: distance(v, w))(y))(x), expected)
    rows = core.vmap(lambda v: core.jacobian(lambda v: F.tanh(v) * F.sum(v), v))(x)
    for row, v in zip(rows.array, x, strict=True):
        near(row, core.jacobian(lambda v: F.tanh(v) * F.sum(v), v))
    weighted = core.vmap(lambda v: core.vjp(F.exp, v)[1](X[0]))(x)  # weights from outside
    near(weighted, np.exp(x) * X[0])
    _, products = core.vmap(lambda v: core.hvp(lambda v: F.sum(v**3), [v], [v]))(x)
    near(products, 6 * x * x)


def test_many_weights_are_pulled_back_at_once():
    w = core.Variable(X[:3, :2].astype("d"))
    y, pull = core.vjp(
        lambda x, d: {"y": F.tanh(x @ w) * d["d"]}, X[0].astype("d"), {"d": np.ones(2)}
    )
    weights = np.cos(np.arange(8.0)).reshape(4, 2)
    by_x, rest = core.vmap(pull)({"y": weights})
    slope = 1 - y["y"].array ** 2
    near(by_x, (weights * slope) @ w.array.T)
    near(rest["d"], weights * y["y"].array)
    product = core.vmap(lambda g: core.vjp(lambda v: F.sum(pull({"y": v})[0]), g)[1](np.ones(())))
    near(product(weights), np.tile(slope * w.array.sum(0), (4, 1)))
    _, drawn = core.vjp(F.dropout, X[0])
    with pytest.raises(TraceError, match="draws other random numbers"):
        core.vmap(drawn)(X)


OUTSIDE = {
    "array": X[:3, :2].copy(),
    "Variable": core.Variable(X[:3, :2].copy()),
    "parameter": core.Parameter(X[:3, :2].copy()),
}
BY_WHAT_IS_OUTSIDE = {
    "jacobian": lambda f, w: core.jacobian(f, w),
    "hessian": lambda f, w: core.hessian(lambda w: F.sum(f(w)), w),
    "jvp": lambda f, w: core.jvp(f, [w], [w * 2])[1],
    "grad": lambda f, w: core.grad([F.sum(f(w))], [w])[0],
}


@pytest.mark.parametrize("name", BY_WHAT_IS_OUTSIDE)
@pytest.mark.parametrize("kind", OUTSIDE)
def test_derivatives_by_what_is_the_same_for_all_and_no_argument(kind, name):
    w, take = OUTSIDE[kind], BY_WHAT_IS_OUTSIDE[name]
    if name == "grad" and kind == "array":
        w = core.Variable(w)

    def of_example(x):
        return take(lambda w: F.tanh(x @ F.sin(w)) * x[0], w)

    expected = [of_example(x).array for x in X]
    near(core.vmap(of_example)(X), np.stack(expected))
    near(core.trace(of_example, X[1])(X[0]), expected[0])


W, B = X[:3, :2].astype("d"), X[3].astype("d")
POINTS, OTHERS = X.astype("d"), X[:4].astype("d") + 1
GOES_BACK = {  # what vmap computes of w and b, and the same without it
    "outside": (
        lambda w, b: core.vmap(lambda x: F.tanh(x @ w) * F.sum(F.sin(x * b)))(POINTS),
        lambda w, b: F.tanh(POINTS @ w) * F.sum(F.sin(b * POINTS), axis=1, keepdims=True),
    ),
    "arguments": (
        lambda w, b: core.vmap(lambda d, x: {"y": F.tanh(d["b"] @ w) * x}, ({"b": 1}, 0), 1)(
            {"b": F.stack([b, b * b], axis=1)}, POINTS[:2, :2]
        )["y"],
        lambda w, b: F.swapaxes(F.tanh(F.stack([b, b * b]) @ w) * POINTS[:2, :2], 0, 1),
    ),
    "what comes from what is outside": (
        lambda w, b: (lambda z: core.vmap(lambda x: (z @ x) * w[:2])(POINTS[:, :2]))(F.exp(w)[:2]),
        lambda w, b: F.stack([(F.exp(w)[:2] @ x) * w[:2] for x in POINTS[:, :2]]),
    ),
    "one within another": (
        lambda w, b: core.vmap(
            lambda x: core.vmap(lambda y, c: F.sin(F.sum(x * y * b * c)), (0, None))(
                OTHERS, w[0, 0]
            )
        )(POINTS),
        lambda w, b: F.sin(w[0, 0] * F.sum(POINTS[:, None] * OTHERS[None] * b, axis=2)),
    ),
    "a number that is the same for all": (
        lambda w, b: core.vmap(lambda x, c: F.sin(x * c), (0, None))(POINTS, w[0, 0]),
        lambda w, b: F.sin(POINTS * w[0, 0]),
    ),
    "derivatives inside": (
        lambda w, b: core.vmap(lambda x: core.vjp(lambda b: F.exp(F.sum(b * b) * x), b)[1](x))(
            POINTS
        ),
        lambda w, b: F.stack([2 * b * F.sum(x * x * F.exp(F.sum(b * b) * x)) for x in POINTS]),
    ),
    "derivatives inside of arguments and what comes from outside": (
        lambda w, b: (
            lambda z: core.vmap(lambda x: core.jacobian(lambda z, x: F.exp(z * x), z, x)[1])(
                POINTS * w[0, 0]
            )
        )(F.sin(b)),
        lambda w, b: F.stack(
            [F.sin(b) * F.exp(F.sin(b) * x) * np.eye(3) for x in POINTS * w[0, 0]]
        ),
    ),
    "what is outside, twice": (
        lambda w, b: core.vmap(lambda x, c: F.sum(w**2 * F.exp(-F.sum(w * w) / 4)) * c + x)(
            POINTS[0, :3], b
        ),
        lambda w, b: F.sum(w**2 * F.exp(-F.sum(w * w) / 4)) * b + POINTS[0, :3],
    ),
    "products of rows": (
        lambda w, b: core.vmap(lambda x: F.relu(x[None] @ w)[0] * b[:2])(POINTS),
        lambda w, b: F.relu(POINTS @ w) * b[:2],
    ),
    "what is the same for all": (
        lambda w, b: core.vmap(lambda x: w, out_axes=0)(POINTS) * POINTS[:, :1, None],
        lambda w, b: w[None] * POINTS[:, :1, None],
    ),
}


@pytest.mark.parametrize("name", GOES_BACK)
def test_derivatives_go_back_through_it(name):
    function, plain = GOES_BACK[name]
    y = plain(core.Variable(W), core.Variable(B)).array
    weights = np.cos(np.arange(y.size)).reshape(y.shape)

    def loss_of(f):
        return lambda w, b: F.sum(f(w, b) ** 2 * weights)

    def derivatives(f):
        rows = core.hessian(loss_of(f), W, B)
        return *core.jacobian(loss_of(f), W, B), *rows[0], *rows[1], core.jvp(f, [W, B], [W, B])[1]

    def traced():
        def gradients(w, b):
            return core.hvp(loss_of(function), [w, b], [w, b])[1]

        return core.trace(gradients, W, B)(W, B)

    expected = [*derivatives(plain), *core.hvp(loss_of(plain), [W, B], [W, B])[1]]
    for one, other in zip([*derivatives(function), *traced()], expected, strict=True):
        np.testing.assert_allclose(one.array, other.array, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("captured", [False, True])
def test_a_model_is_trained_through_it(captured):
    def trained(loss_of):
        core.seed(0)
        model = core.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 3))
        optimizer = core.optimizers.Adam().setup(model)

        def step(x, t):
            optimizer.update(lambda: loss_of(model, x, t))

        step = core.capture(step) if captured else step
        for _ in range(4):
            step(X, T)
        core.seed(None)
        assert not captured or step.replayed == 3
        return [p.array for p in model.params()]

    def of_each(model, x, t):
        def of_one(x, t):
            return F.softmax_cross_entropy(model(x[None]), t[None], normalize=False)

        return F.mean(core.vmap(of_one)(x, t))

    expected = trained(lambda m, x, t: F.softmax_cross_entropy(m(x), t, normalize=False))
    for one, other in zip(trained(of_each), expected, strict=True):
        near(one, other)


@pytest.mark.parametrize("masters", [False, True])
def test_a_captured_step_maps_a_model_whose_optimizer_is_set_up_anew(masters):
    def trained(wrap):
        core.seed(0)
        with core.using_config("dtype", core.mixed16 if masters else "float32"):
            model = core.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 3))
        optimizer = core.optimizers.Adam()

        def of_one(x, t):
            return F.softmax_cross_entropy(model(x[None]), t[None])

        def step(x, t):
            optimizer.update(lambda: F.mean(core.vmap(of_one)(x, t)))

        step = wrap(step)
        for _ in range(3):
            optimizer.setup(model)
            optimizer.use_fp32_update(masters)
            for _ in range(2):
                step(X.astype(model[0].W.dtype), T)
        core.seed(None)
        return [p.array for p in model.params()]

    for one, other in zip(trained(core.capture), trained(lambda step: step), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_captured_step_maps_along_a_variable_of_its_own():
    model = L.Linear(3, 2)
    optimizer = core.optimizers.SGD().setup(model)

    @core.capture
    def step():
        def slope(x):
            y = F.sum(F.sin(model(x[None])))
            return core.grad([y], [x], enable_double_backprop=True)[0] * y

        optimizer.update(lambda: F.mean(core.vmap(slope)(core.Variable(X)) ** 2))

    for _ in range(3):
        step()
    assert step.replayed == 2, step.report()


def test_what_is_shared_by_all_is_counted_once_and_draws_are_those_of_the_way_forward():
    w = core.Variable(W)
    y = core.vmap(lambda x: w * 2, out_axes=None)(POINTS)
    assert core.grad([F.sum(y)], [w])[0].array.tolist() == np.full_like(W, 2).tolist()
    x = core.Variable(np.ones((4, 8)))
    y = core.vmap(lambda v: F.dropout(v * 3))(x)
    assert np.array_equal(core.grad([F.sum(y)], [x])[0].array, y.array)
    with core.no_backprop_mode():
        assert not core.vmap(F.exp)(x).requires_grad
    with core.using_config("debug", True):  # looks for NaN, and traces have no values
        assert core.grad([F.sum(core.vmap(F.square)(x))], [x])[0].array.tolist() == [[2] * 8] * 4


def test_each_example_draws_its_own():
    draws = core.vmap(lambda x: F.dropout(x * 0 + 1))(np.ones((64, 16), "f")).array
    assert set(np.unique(draws)) == {0, 2} and len(np.unique(draws, axis=0)) > 60
    drawn = core.vmap(lambda x: core.backend.current().random.permutation(9))(X)
    assert np.sort(drawn).tolist() == [list(range(9))] * 5 and len(np.unique(drawn, axis=0)) > 1
    noise = core.vmap(lambda x: core.backend.current().random.normal((2,)))(X)
    assert noise.shape == (5, 2) and len(np.unique(noise)) == 10


def test_results_share_no_memory_with_what_was_given():
    x = X.copy()
    same, flat, twice = core.vmap(lambda x: (x, x.reshape(3, 1), x))(x)
    for one in (same, flat, twice):
        one[...] = 0
    assert x.all()


def test_views_show_what_is_changed_after_they_were_taken():
    def function(x):
        y = x * 2
        first = y[:1]
        y += 1
        return first, F.sum(core.Variable(y))

    first, total = core.vmap(function)(X)
    assert np.array_equal(first, X[:, :1] * 2 + 1)
    near(total.array, np.sum(X * 2 + 1, axis=1))


def test_what_is_read_no_more_is_let_go():
    def chain(x):
        for _ in range(20):
            x = F.sin(x)
        return x

    x = np.ones((4, 1 << 16), "f")
    with core.no_backprop_mode():
        tracemalloc.start()
        core.vmap(chain)(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5 * x.nbytes


def test_labels_out_of_range_are_refused_for_any_example():
    with pytest.raises(core.errors.OutOfRange):
        core.vmap(lambda x, t: F.softmax_cross_entropy(x[None], t[None]))(X, T + 3)


def test_models_are_made_for_each_example():
    def function(x):
        model = core.Sequential(L.Linear(3, 2, initialW=1), L.BatchNormalization(2))
        return model(x.reshape(1, 3) * np.ones((2, 1), "f"))

    with core.using_config("train", False):
        y = core.vmap(function)(X).array
    near(y[:, 0], np.stack([X.sum(1)] * 2, axis=1))
    assert core.vmap(function)(X).shape == (5, 2, 2)


@pytest.mark.parametrize("of", [core.Variable, core.as_array])
def test_variables_as_indexes(of):
    def largest(x):
        array = core.as_array(x)
        return array[F.argmax(array, axis=0)], of(array)[None, F.argmax(array, axis=0)]

    one, other = core.vmap(largest)(X)
    near(one, X.max(1))
    near(other, X.max(1)[:, None])


CUBE = np.random.default_rng(3).normal(size=(2, 3, 4, 5))
AT = np.array([3, 1])
INTEGERS = {"Python's": 1, "NumPy's": np.int64(1), "an array's": np.array(1)}


@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize(
    "place",
    [
        lambda i: (i, slice(None), AT),  # what is between puts the array's axis first
        lambda i: (i, AT),
        lambda i: (slice(None), i, AT),
        lambda i: (AT[1:], None, i),
        lambda i: (..., i, AT),
        lambda i: (AT - 1, ..., i),
    ],
)
def test_integers_beside_arrays_in_an_index(place, integer):
    index = place(INTEGERS[integer])

    def read(x):
        return x[index]

    def written(x):
        y = x * 1
        y[index] = y[index] * 2
        return y

    for function in (read, written):
        expected = np.stack([function(x) for x in CUBE])
        assert np.array_equal(core.vmap(function)(CUBE), expected)


OPTIONS = {
    "mode of take": lambda x, i: np.take(x, i, mode="clip"),
    "mode of take along": lambda x, i: np.take(x, i * 3, axis=0, mode="wrap"),
    "dtype of cumsum": lambda x, i: np.cumsum(x, 0, "d"),
    "norm of fft": lambda x, i: np.fft.fft(x, None, -1, "ortho").real,
    "flat": lambda x, i: np.concatenate([x, np.stack([x, x])], None),
    "shape": lambda x, i: np.full_like(x, x[:1], shape=(3,)),
    "axis of NumPy's": lambda x, i: np.argmax(np.stack([x, -x]), axis=np.int64(1)),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_numpys_functions(name):
    function, i = OPTIONS[name], np.array([[0, 7], [1, 9], [2, 2], [1, 0], [0, 0]])
    expected = np.stack([function(*each) for each in zip(X, i, strict=True)])
    found = core.vmap(function)(X, i)
    assert found.dtype == expected.dtype
    near(found, expected)


TABLE = np.random.default_rng(4).normal(size=(4, 4))
AT_ONCE = {  # functions of NumPy's, of one example
    "dot": lambda x: np.dot(x[0], x) + np.dot(TABLE, x[0]) + x.dot(TABLE[0]),
    "inner": lambda x: np.inner(x[0], TABLE[0]),
    "outer": lambda x: np.outer(x[0], TABLE) + np.outer(x[1], x),
    "vecdot": lambda x: np.vecdot(x, TABLE) + np.linalg.vecdot(TABLE[0], x),
    "cross": lambda x: np.cross(x[:, :3], TABLE[:, :3]) + np.linalg.cross(x[0, :3], x[:, :3]),
    "norm": lambda x: np.linalg.norm(x) + np.linalg.norm(x, axis=0, keepdims=True),
    "order of a norm": lambda x: np.linalg.norm(x[0], ord=1) + np.linalg.vector_norm(x),
    "norm of matrices": lambda x: np.linalg.norm(x[None] * x, ord="nuc", axis=(1, 2)),
    "diff": lambda x: np.diff(x, 2, 0)[:, :3] + np.diff(x)[:2],
    "partition": lambda x: np.partition(x, 1)[:, 1] + np.median(x, 0) + np.nanmax(x),
    "diagonal": lambda x: np.diagonal(x, 1) + np.linalg.diagonal(x, offset=-1),
    "axes of a diagonal": lambda x: np.trace(x[None] * TABLE[..., None], 1, axis1=2, axis2=0),
    "take along": lambda x: np.take_along_axis(x, np.argsort(x, 0), 0),
    "axes from behind": lambda x: np.diagonal(x, 1, axis1=-1, axis2=-2),
    "pad": lambda x: np.pad(x, ((0, 1), (2, 0))) + np.pad(x[0], (1, 2), "reflect")[:6],
}
ONE_BY_ONE = {  # arguments of these that have no form for all
    "product of more axes": lambda x: np.dot(x, np.stack([TABLE, TABLE])),
    "first axis": lambda x: np.cross(x[:3], x[1:], axisa=0, axisb=0) + np.vecdot(x, x, axis=0)[:1],
    "what is put before": lambda x: np.diff(x, prepend=x[:, :1]) + np.diff(x, 1, 0, x[:1]),
    "what is put around": lambda x: np.pad(x, 1, constant_values=3),
    "dtype": lambda x: np.trace(x, dtype="f") + np.linalg.norm(x, "fro"),
}


@pytest.mark.parametrize("name", AT_ONCE | ONE_BY_ONE)
def test_numpys_functions_are_computed_for_all_examples_at_once(name, monkeypatch):
    function, calls = (AT_ONCE | ONE_BY_ONE)[name], []
    one_by_one = batching._one_by_one
    monkeypatch.setattr(batching, "_one_by_one", lambda *a: calls.append(a) or one_by_one(*a))
    x = np.random.default_rng(5).normal(size=(4, 4, 4))
    expected = np.stack([function(each) for each in x])
    np.testing.assert_allclose(core.vmap(function)(x), expected, rtol=1e-5, atol=1e-9, strict=True)
    assert bool(calls) == (name in ONE_BY_ONE)


NUMBERS = {  # functions of NumPy's, of examples without axes
    "running sums": lambda x: np.cumsum(x, 0) + np.cumsum(x, -1) + np.cumsum(x),
    "repeated": lambda x: np.repeat(x, 2, 0),
    "places": lambda x: np.argmax(x, 0) + np.argmax(x, -1) + np.argmin(x),
    "beside a list": lambda x: np.where(x > 2, [1.0, 2.0], x) + np.maximum(x, [3.0, 4.0]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numpys_functions_of_numbers(name):
    x, function = np.arange(5.0), NUMBERS[name]
    expected = np.stack([function(each) for each in x])
    np.testing.assert_array_equal(core.vmap(function)(x), expected, strict=True)


class Looking(core.FunctionNode):
    """An operation whose gradient looks at values."""

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0] * float(np.asarray(grad_outputs[0].array).sum()),)


BN = L.BatchNormalization(3)
SGD = core.optimizers.SGD().setup(L.Linear(3, 1))
REFUSALS = {
    "arguments by name": (
        lambda: core.vmap(lambda x, rate: x * rate)(X, rate=2.0),
        "got rate by name",
    ),
    "averages": (lambda: core.vmap(BN)(X[None]), "changes /avg_mean"),
    "updates": (
        lambda: core.vmap(lambda x: SGD.update(lambda: F.sum(SGD.target(x[None]))))(X),
        "changes /W, /b",
    ),
    "arguments": (lambda: core.vmap(lambda x: x.__setitem__(0, 1))(X), "argument array 0, in"),
    "values": (lambda: core.vmap(lambda x: x if x[0] > 0 else -x)(X), "value of an array"),
    "one axis": (lambda: core.vmap(F.exp, 2)(X), "axis 2 of examples, got the shape"),
    "sizes": (lambda: core.vmap(F.matmul)(X, X.T), "as many examples in each .*5 in .*3 in"),
    "none": (lambda: core.vmap(F.exp, None)(X), "axis of examples, got none"),
    "no examples at a time": (lambda: core.vmap(F.exp, chunk_size=0), "chunk_size .* got 0"),
    "form": (lambda: core.vmap(F.exp, (0, 0))(X), "in_axes to be .* structure"),
    "out": (lambda: core.vmap(F.exp, 0, 2)(X), "out_axes of an array of 2 dim"),
    "differs": (lambda: core.vmap(F.exp, 0, None)(X), "same for all .* got one that differs"),
    "draws": (
        lambda: core.hvp(lambda x: F.sum(core.vmap(F.dropout)(x)), [X], [X]),
        "vmap: the function draws random numbers",
    ),
    "no way back": (
        lambda: F.sum(core.vmap(lambda x: Looking().apply((x,))[0])(core.Variable(X))).backward(),
        "value of an array was asked for",
    ),
    "traced from outside": (
        lambda: core.jacobian(lambda x: core.trace(lambda v: v * x, X[0])(X[0]), X[0]),
        "uses a Variable from outside whose derivatives",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_is_refused_by_name(name):
    call, message = REFUSALS[name]
    with pytest.raises((TypeError, ValueError, TraceError, NotDifferentiable), match=message):
        call()
    assert core.vmap(F.exp)(X).shape == X.shape


def test_what_cannot_be_traced_is_named():
    from plugins.functions.evaluation.classification_summary import ClassificationSummary

    with pytest.raises(TraceError, match="ClassificationSummary"):
        core.vmap(ClassificationSummary.call)(X[None], T[None])


def test_arrays_of_other_backends_are_refused_with_the_cure():
    x = core.get_device("strict").send(np.ones((2, 3)))
    with pytest.raises(TraceError, match=r"got .* 0 of strict. .*to_device\('numpy'\)"):
        core.vmap(lambda v: v * v)(x)
