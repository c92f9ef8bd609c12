"""Arrays without elements: what is known of them, what shares memory, and what is refused."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.errors import TraceError

shapes = st.lists(st.integers(1, 4), min_size=0, max_size=3).map(tuple)
dtypes = st.sampled_from(["float32", "float64", "float16", "int32", "uint8", "bool"])


def known(function, *arrays):
    """Shape and dtype of the result, as the trace sees them."""
    seen = []

    def looking(*args):
        result = function(*args)
        seen.append((result.shape, result.dtype))
        return result

    core.trace(looking, *arrays)
    return seen[0]


@given(shapes, st.data())
def test_shapes_and_dtypes_follow_numpys_rules(shape, data):
    x = np.ones(shape, data.draw(dtypes))
    other = data.draw(st.sampled_from([x.dtype, np.dtype("float32"), np.dtype("int32")]))
    y = np.ones(tuple(n if data.draw(st.booleans()) else 1 for n in shape), other)
    axis = data.draw(st.none() | st.integers(0, len(shape) - 1)) if shape else None
    keep = data.draw(st.booleans())
    for function in (
        lambda x, y: x + y,
        lambda x, y: np.maximum(x, y) * 2,
        lambda x, y: x < y,
        lambda x, y: np.where(x == y, x, y),
        lambda x, y: np.sum(x, axis=axis, keepdims=keep),
        lambda x, y: np.mean(y, axis=axis, keepdims=keep),
        lambda x, y: np.argmax(x, axis=axis),
        lambda x, y: np.stack([x, x], axis=-1),
        lambda x, y: np.reshape(x, (-1,)),
        lambda x, y: x.T @ x if x.ndim == 2 else x.T,
        lambda x, y: np.astype(x, np.float64),
        lambda x, y: np.expand_dims(x, axis=0)[..., None],
        lambda x, y: np.exp(x / 2),
        lambda x, y: np.zeros_like(x),
        lambda x, y: np.concat([np.reshape(x, (-1,)), np.reshape(y, (-1,))]),
    ):
        expected = np.asarray(function(x, y))
        assert known(function, x, y) == (expected.shape, expected.dtype)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple),
    st.lists(st.integers(1, 3), max_size=4).map(tuple),
    st.sampled_from([0, ..., [0, 0], (..., 0), slice(0, 1)]),
)
def test_what_numpy_does_not_assign_is_refused_in_the_trace(shape, other, index):
    def assigned(x, y):
        x = x.copy()
        x[index] = y
        return x

    x, y = np.zeros(shape), np.ones(other)
    try:
        expected = assigned(x, y)
    except ValueError:
        with pytest.raises(ValueError, match="could not broadcast"):
            core.trace(assigned, x, y)
    else:
        np.testing.assert_array_equal(core.trace(assigned, x, y)(x, y), expected)


INDEXES = [0, -1, slice(1, None), slice(None, None, 2), (..., 0), (slice(0, 1), None), None]
PLACES = st.builds(lambda i: ("getitem", i), st.sampled_from(INDEXES)) | st.sampled_from(
    [
        *[("T",), ("mT",), ("flip",), ("expand_dims",), ("reshape",), ("copy",)],
        *[("fliplr",), ("flipud",), ("rollaxis",), ("linalg.matrix_transpose",)],
    ]
)
OF_MATRICES = [("mT",), ("fliplr",), ("linalg.matrix_transpose",)]
WRITES = st.sampled_from(["+=", "*=", "[...]", "[0]", "fill"])


def seen(x, step):
    match step:
        case ("getitem", index):
            return x[index]
        case ("T",):
            return x.T
        case ("mT",):
            return x.mT
        case ("flip",):
            return np.flip(x, axis=0)
        case ("expand_dims",):
            return np.expand_dims(x, axis=1)
        case ("fliplr",):
            return np.fliplr(x)
        case ("flipud",):
            return np.flipud(x)
        case ("rollaxis",):
            return np.rollaxis(x, -1)
        case ("linalg.matrix_transpose",):
            return np.linalg.matrix_transpose(x)
        case ("reshape",):
            return np.reshape(x, (-1, 1))
        case _:
            return x.copy()


def written(x, how, by):
    if how == "+=":
        x += by
    elif how == "*=":
        x *= x
    elif how == "[...]":
        x[...] = by * 2
    elif how == "[0]":
        x[0] = by
    else:
        x[:] = 7


@given(st.lists(st.tuples(st.integers(0, 5), PLACES | WRITES), min_size=1, max_size=7))
def test_what_is_written_through_a_view_is_seen_in_all_that_share_its_memory(steps):
    """Random programs of views and assignments give NumPy's bits, or are refused by name."""

    def function(x, by):
        arrays = [x.copy()]
        for which, step in steps:
            array = arrays[which % len(arrays)]
            if isinstance(step, tuple):
                if array.ndim and array.ndim < 5 and (step not in OF_MATRICES or array.ndim > 1):
                    arrays.append(seen(array, step))
            elif array.ndim:
                written(array, step, by)
        return [array + 0 for array in arrays if array.ndim]

    x, by = np.arange(9.0).reshape(3, 3), np.array(0.5)
    expected = function(x, by)
    try:
        program = core.trace(function, x, by)
    except TraceError as error:
        assert "share the memory" in str(error)
        assert any(step == ("reshape",) for _, step in steps)
        return
    for one, other in zip(program(x, by), expected, strict=True):
        assert one.tobytes() == other.tobytes()
    assert x.tobytes() == np.arange(9.0).tobytes()


VIEWS = [("getitem", i) for i in INDEXES] + [
    *[("T",), ("mT",), ("flip",), ("expand_dims",), ("reshape",)],
    *[("fliplr",), ("flipud",), ("rollaxis",), ("linalg.matrix_transpose",)],
]


def test_what_is_written_through_a_view_of_a_view_is_put_where_it_is_seen():
    """Each kind of view of each kind, of an array that no view leaves as it is."""
    x = np.ones((2, 3, 4))
    in_order = [("reshape",), ("expand_dims",)]  # else what is reshaped may be a copy
    chains = [(a, b) for a in VIEWS for b in VIEWS if b != ("reshape",) or a in in_order]

    def function(x):
        found, xp = [], x.__array_namespace__()
        for one, other in chains:
            whole = xp.zeros(x.shape)
            view = seen(seen(whole, one), other)
            view[...] = np.arange(1.0, view.size + 1).reshape(view.shape)
            found.append(whole)
        return found

    for chain, one, other in zip(chains, core.trace(function, x)(x), function(x), strict=True):
        assert one.tobytes() == other.tobytes(), chain


def test_elements_that_integers_choose_are_set_to_a_view_of_the_same_array():
    def function(x):
        y = x * 1
        y[np.array([0, 2])] = y[1:3]
        return y

    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(core.trace(function, x)(x), function(x))


MAY_BE_COPIES = {
    "reshape": lambda x: np.reshape(x, (-1,)),
    "rot90": np.rot90,
    "vsplit": lambda x: np.vsplit(x, 3)[0],
    "hsplit": lambda x: np.hsplit(x, 2)[0],
    "atleast_3d": np.atleast_3d,
    "real_if_close": np.real_if_close,
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 0),
}


@pytest.mark.parametrize("name", MAY_BE_COPIES)
def test_a_write_to_what_may_be_a_copy_spoils_the_other(name):
    def function(x):
        flat = MAY_BE_COPIES[name](x)
        flat += 1
        return x

    with pytest.raises(TraceError, match=r"share the memory .* at .*: flat \+= 1"):
        core.trace(function, np.ones((2, 3)).T)


@pytest.mark.parametrize("how", [core.capture, core.vmap, lambda f: core.trace(f, np.ones((2, 3)))])
def test_a_traced_array_is_an_instance_of_what_it_stands_for(how):
    def function(x):
        scaled = x * 2 if isinstance(x, np.ndarray) else x * 3
        return scaled if isinstance(np.sum(scaled), np.ndarray) else scaled + 1

    step, x = how(function), np.ones((2, 3))
    for _ in range(3):
        np.testing.assert_array_equal(step(x), function(x))


INTO = {
    "clip in its place": lambda y, o: np.clip(y, -1, 1, y),
    "method in its place": lambda y, o: y.clip(-1, 1, o),
    "method by name": lambda y, o: y.clip(-1, 1, out=y),
    "method without numbers": lambda y, o: y.round(out=o),
    "ufunc": lambda y, o: np.multiply(y, 2, y),
    "sum": lambda y, o: np.sum(y, 0, None, o[0]),
    "cumsum": lambda y, o: y.cumsum(0, None, o),
    "product": lambda y, o: np.dot(y, y, o),
    "take": lambda y, o: np.take(y, [0, 0, 1], 0, o),
    "operands": lambda y, o: o.__setitem__(..., np.einsum("ij,jk,kl", y, o, y)),
}


@pytest.mark.parametrize("name", INTO)
def test_results_are_put_into_arrays_in_their_place_or_by_name(name):
    def function(x):
        y, o = x * 1, x * 2
        INTO[name](y, o)
        return y, o

    x = np.arange(-4.0, 5.0).reshape(3, 3)
    for one, other in zip(core.trace(function, x)(x), function(x), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: x.flat[0], r"x\.flat of an array cannot be traced"),
        (lambda x: x.view("int32"), r"x\.view of an array cannot be traced"),
        (lambda x: x + [1, 2], "a list beside an array, .* by numpy.asarray"),
        (lambda x: (1, 2) - x, "a tuple beside an array"),
        (lambda x: x == [1, 2], "a list beside an array"),
        (lambda x: operator.iadd(x, [1, 2]), "a list beside an array"),
    ],
)
def test_what_numpy_takes_and_a_trace_does_not_is_refused_by_name(function, told):
    with pytest.raises(TraceError, match=told):
        core.trace(function, np.ones((2, 2), "f"))


def test_who_asks_for_an_attribute_that_is_not_traced_does_without():
    program = core.trace(lambda x: x + (2 if hasattr(x, "view") else 1), np.ones(3))
    assert program(np.ones(3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize(("name", "other"), [("shape", (2, -1)), ("dtype", "i8")])
def test_shapes_and_dtypes_that_are_set_in_place_are_refused(name, other):
    def function(x):
        y = x * 1
        setattr(y, name, other)
        return y

    with pytest.raises(TraceError, match="another shape or dtype in place"):
        core.trace(function, np.ones((4, 3)))


def test_several_arrays_are_not_written_to_by_one_function():
    with pytest.raises(TraceError, match="divmod: it would change several arrays"):
        core.trace(lambda x: np.divmod(x, 2, x + 1, x + 2), np.ones(3))


def test_numbers_that_are_put_in_the_place_of_nan():
    def function(x):
        y, z = x * 1, x * 1
        return np.nan_to_num(y, copy=False, nan=3), y, np.nan_to_num(z, nan=4), z

    x = np.array([1, np.nan, np.inf])
    for one, other in zip(core.trace(function, x)(x), function(x), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_argument_that_is_changed_is_changed_by_the_program():
    def function(x):
        x[1:] += 1
        return x * 2

    program = core.trace(function, np.zeros(3))
    x = np.array([1.0, 2.0, 3.0])
    assert program(x).tolist() == [2.0, 6.0, 8.0]
    assert x.tolist() == [1.0, 3.0, 4.0]


LOOKING = {
    "bool": lambda x: 1 if x[0] else 2,
    "int": lambda x: int(x[0]),
    "float": lambda x: float(x[0]),
    "index": lambda x: [1, 2, 3][x[0]],
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist(),
    "asarray": lambda x: np.asarray(x),
    "mask": lambda x: x[x > 1],
    "nonzero": lambda x: np.nonzero(x),
    "unique": lambda x: np.unique_values(x),
    "in": lambda x: 1 in x,
    "allclose": lambda x: np.allclose(x, 1),
    "text": lambda x: f"{x[0]:.2f}",
    "variable": lambda x: float(core.Variable(x)[0].array),
    "max": lambda x: max(x),
}


@pytest.mark.parametrize("how", LOOKING)
def test_who_looks_at_a_value_is_refused_with_the_line(how):
    with pytest.raises(TraceError, match=r"test_traced_arrays\.py:\d+: "):
        core.trace(LOOKING[how], np.ones(3, "i"))


def test_a_refusal_names_operation_and_link():
    class Peeking(core.FunctionNode):
        def compute(self, xp, x):
            return x * 2 if xp.any(x > 0) else x

        def gradient(self, xp, g):
            return g

    class Block(core.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l1 = L.Linear(3, 3)

        def forward(self, x):
            return Peeking.call(self.l1(x))

    model = core.Sequential(Block())
    with pytest.raises(TraceError) as caught:
        core.trace(model, np.ones((2, 3), "f"))
    assert "in Peeking in /0 (Block), at " in str(caught.value)
    assert "return Peeking.call(self.l1(x))" in str(caught.value)


def test_lengths_loops_and_dimensions_are_known():
    def function(x):
        rows = [row * i for i, row in enumerate(x)]
        first, *_ = x
        return sum(rows, first) if len(x) == x.shape[0] == 3 and x.ndim == 2 else None

    x = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(core.trace(function, x)(x), function(x))


def test_an_array_does_not_outlive_its_trace():
    kept = []
    core.trace(lambda x: kept.append(x), np.ones(2))
    for use in (lambda x: x + 1, lambda x: np.exp(x), lambda x: F.exp(x)):
        with pytest.raises(TraceError, match="after its trace has ended"):
            use(kept[0])
    with pytest.raises(TraceError, match="another trace"):
        core.trace(lambda x: x + kept[0], np.ones(2))


def of_constants(table, i):
    """Parts of a table from outside, by an index that is traced."""
    y = table[i] * F.scatter_add(np.ones((2, 2)), i, np.eye(2))
    (g,) = core.grad([F.sum(y * y)], [table])
    return y, g


def test_variables_from_outside_are_indexed_and_have_gradients():
    table, i = core.Variable(np.arange(6.0).reshape(3, 2)), np.array([1, 0])
    for found, expected in zip(
        core.trace(lambda i: of_constants(table, i), i)(i), of_constants(table, i), strict=True
    ):
        assert found.array.tolist() == expected.array.tolist()
    parts = core.vmap(lambda i: core.grad([F.sum(table[i] ** 2)], [table]))(np.array([0, 2]))[0]
    assert parts.array.tolist() == [[[0, 2], [0, 0], [0, 0]], [[0, 0], [0, 0], [8, 10]]]
    assert table.grad is None


def captured(function, x):
    step = core.capture(lambda x: core.grad([function(v := core.Variable(x))], [v])[0].array)
    step(x)
    assert step(x).tolist() == step(x).tolist()
    assert step.replayed == 2


@pytest.mark.parametrize(
    "run", [core.trace, lambda f, x: core.vmap(f)(x[None]), captured], ids=["trace", "vmap", "step"]
)
def test_graphs_from_before_a_trace_are_walked_after_it(run):
    x = np.array([1.0, 2.0])
    leaf, other = core.Variable(x), core.Variable(x)
    loss, between = F.sum(leaf * leaf), F.exp(other)
    run(lambda v: F.sum(leaf * v * leaf), x)
    loss.backward()
    assert leaf.grad.tolist() == [2, 4]
    if run is not captured:  # which refuses what comes from a graph
        run(lambda v: F.sum(between * v * between), x)
        F.sum(between).backward()
        assert other.grad.tolist() == np.exp(x).tolist()


def test_arrays_from_outside_are_not_changed():
    outside = np.zeros(3)

    def function(x):
        nonlocal outside
        outside += x

    with pytest.raises(TraceError, match="from outside"):
        core.trace(function, np.ones(3))
    assert outside.tolist() == [0, 0, 0]


def test_numpys_functions_and_methods_are_recorded():
    def function(x):
        return np.exp(x).sum(axis=0) + np.linalg.norm(x) + x.reshape(-1).max()

    x = np.arange(6.0).reshape(3, 2)
    assert core.trace(function, x)(x).tobytes() == function(x).tobytes()


def test_quotients_and_remainders_together():
    for x in (np.array([5, -7, 3]), np.array([5.5, -7, 3])):

        def function(x):
            return *divmod(x, 3), *divmod(10.5, x)

        for found, expected in zip(core.trace(function, x)(x), function(x), strict=True):
            np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    "chosen", [lambda x: x > 2, lambda x: np.array([True, False]), lambda x: True]
)
def test_elements_that_are_not_chosen_stay_as_they_are(chosen):
    def function(x):
        kept = x * 0 + 7
        return np.divide(x, 2, out=kept, where=chosen(x)), kept, np.sum(x, where=x > 2)

    x = np.arange(6.0).reshape(3, 2)
    for found, expected in zip(core.trace(function, x)(x), function(x), strict=True):
        assert found.tolist() == expected.tolist()
    of_each = core.vmap(function)(np.stack([x, x[::-1]]))[0]
    assert of_each.tolist() == [function(x)[0].tolist(), function(x[::-1])[0].tolist()]


ROWS = {
    "rows in turn": lambda y: [operator.iadd(y[i], i) for i in np.arange(3)],
    "a row by its number": lambda y: operator.setitem(y[np.argmax([1, 5, 2])], ..., 7.0),
    "a part of a row": lambda y: operator.imul(y[np.int32(1), np.int64(0) :], 2),
    "a row assigned to, then its view": lambda y: (
        row := y[np.int64(2)],
        operator.setitem(y, np.int64(2), 5.0),
        operator.iadd(row, 1),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_views_by_numpys_integers_are_followed(name):
    def function(x):
        y = x * 1
        ROWS[name](y)
        return y

    x = np.arange(6.0).reshape(3, 2)
    for found in (core.trace(function, x)(x), core.vmap(function)(x[None])[0]):
        assert found.tolist() == function(x).tolist()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sort(x, axis=None),
        lambda x: np.argsort(x, axis=None),
        lambda x: np.tril(x[0]),
        lambda x: np.zeros_like(x, shape=4),
    ],
)
def test_shapes_of_results_with_other_axes(function):
    x = np.array([[3.0, 1.0], [0.0, 2.0]])
    told = []
    program = core.trace(lambda x: (told.append(function(x).shape), function(x))[1], x)
    assert told == [function(x).shape]
    assert program(x).tolist() == function(x).tolist()


BESIDE = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "ge", "eq"]


@pytest.mark.parametrize("name", BESIDE)
def test_constants_of_another_dtype_stand_beside_variables_as_they_do_in_eager(name):
    operate, constant = getattr(operator, name), np.array([2.0, 1.0, 1.5])

    def function(x):
        y = core.as_variable(x)
        return operate(y, constant), operate(constant, y), operate(y, constant.astype("i"))

    x = np.array([1.0, 4.0, 3.0], "f")
    found, mapped = core.trace(function, x)(x), core.vmap(function)(x[None])
    for y, of_one, expected in zip(found, mapped, function(x), strict=True):
        assert y.dtype == of_one.dtype == expected.dtype
        assert y.array.tolist() == of_one.array[0].tolist() == expected.array.tolist()


METHODS = {
    "argsort": lambda x: x.argsort(0),
    "searchsorted": lambda x: x[0].searchsorted(x[1]),
    "cumprod": lambda x: x.cumprod(axis=1),
    "diagonal": lambda x: x.diagonal(1) + x.trace(),
    "conjugate": lambda x: x.conjugate(),
    "fill": lambda x: [y := x * 1, y[0].fill(3)][0],
    "sort": lambda x: [y := x * 1, y[:, ::2].sort(axis=0)][0],
}


@pytest.mark.parametrize("name", METHODS)
def test_numpys_rarer_methods(name):
    x = np.random.default_rng(0).normal(size=(3, 4))
    for found in (core.trace(METHODS[name], x)(x), core.vmap(METHODS[name])(x[None])[0]):
        assert found.tolist() == METHODS[name](x).tolist()


@pytest.mark.parametrize("function", [lambda x: x.nonzero(), lambda x: x.compress(x[0] > 0)])
def test_methods_whose_results_depend_on_values_are_refused(function):
    with pytest.raises(TraceError, match="depends on the values"):
        core.trace(function, np.ones((2, 2)))


def test_tracing_leaves_no_backend_by_name():
    core.trace(lambda x: x, np.ones(1))
    assert "tracing" not in core.backend.names()
