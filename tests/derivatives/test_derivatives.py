"""core.jvp, vjp, jacobian, hessian and hvp: against finite differences and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.derivatives import rows
from core.errors import NotDifferentiable


@pytest.fixture(scope="module", params=["at once", "one by one"], autouse=True)
def all_rows(request):
    """Rows of Jacobians are made at once, however few they are, or by a walk each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "LEAST", 1 if request.param == "at once" else 1 << 40)
        yield request.param


seeds = st.integers(0, 1000)
shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)


def smooth(x, y):
    """Two outputs of two inputs, of other shapes, with all second derivatives."""
    return F.tanh(x) * F.sum(y**2) + F.exp(x / 3), F.sum(F.sin(x)) * y


def differences(function, arrays, along, step=1e-5):
    """The derivative of what a function of arrays gives, along a direction."""
    ahead = function(*[np.asarray(a + step * v) for a, v in zip(arrays, along, strict=True)])
    behind = function(*[np.asarray(a - step * v) for a, v in zip(arrays, along, strict=True)])
    return [(p - q) / (2 * step) for p, q in zip(ahead, behind, strict=True)]


def drawn(random, *shapes):
    return [np.asarray(random.normal(size=shape)) for shape in shapes]


def plain(*arrays):
    return [y.array for y in smooth(*map(core.Variable, arrays))]


def near(one, other):
    np.testing.assert_allclose(core.as_array(one), other, rtol=1e-6, atol=1e-7)


@given(shapes, shapes, seeds)
def test_derivatives_along_directions(shape, other, seed):
    random = np.random.default_rng(seed)
    arrays = drawn(random, shape, other)
    along = drawn(random, shape, other)
    weights = drawn(random, shape, other)
    ys, pushed = core.jvp(smooth, arrays, along)
    for y, t, expected, d in zip(
        ys, pushed, plain(*arrays), differences(plain, arrays, along), strict=True
    ):
        near(y, expected)
        near(t, d)
    ys, pull = core.vjp(smooth, *arrays)
    pulled = pull(*weights)
    near(
        sum(np.sum(w * t.array) for w, t in zip(weights, pushed, strict=True)),
        sum(np.sum(g.array * v) for g, v in zip(pulled, along, strict=True)),
    )
    assert not any(v.requires_grad for v in (*ys, *pushed, *pulled))


@given(shapes, seeds, st.booleans(), st.none() | st.integers(1, 9))
def test_jacobians_have_a_row_for_each_element(shape, seed, tall, chunk_size):
    random = np.random.default_rng(seed)
    x, y, v = drawn(random, shape, (2,), shape)

    def function(x, y):
        few = smooth(x, y)[1]
        return {"y": F.stack([few * i for i in range(13)]) if tall else few, "x": F.sum(x)}

    found = core.jacobian(function, x, y, chunk_size=chunk_size)
    pushed = core.jvp(function, [x, y], [v, np.zeros(2)])[1]
    for key, (by_x, by_y) in found.items():
        of = pushed[key].shape
        assert by_x.shape == (*of, *shape) and by_y.shape == (*of, 2)
        near(np.tensordot(by_x.array, v, axes=len(shape)), pushed[key].array)


CALLS = []


def another_each_time(x):
    CALLS.append(x)
    return x**2 * len(CALLS)


def looks(x):
    return x**3 if float(x.array[0]) < 1 else x


class Walked(core.FunctionNode):
    """What counts the walks back through it."""

    walks = 0

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, indexes, grad_outputs):
        Walked.walks += 1
        return (grad_outputs[0] * 2,)


def test_all_rows_take_one_walk(all_rows):
    Walked.walks = 0
    found = core.jacobian(lambda x: Walked().apply((x,))[0], np.ones(5))
    assert found.array.tolist() == (2 * np.eye(5)).tolist()
    assert Walked.walks == (1 if all_rows == "at once" else 5)


def test_models_stay_what_they_are_for_other_threads():
    layer = L.Linear(2, 3)
    W, layer.seen = layer.W.array, None

    def function(x):
        assert layer.W.array is W
        layer.seen = x
        return layer(x[None])[0]

    near(core.jacobian(function, np.ones(2, "f")), W)
    assert layer.seen.array.tolist() == [1, 1]


def test_rows_are_those_of_the_first_call_and_its_draws():
    x = np.array([0.5, 1.5])
    CALLS.clear()
    near(core.jacobian(another_each_time, x), np.diag(2 * x))
    near(core.jacobian(looks, x), np.diag(3 * x**2))
    ones = np.ones(20)
    core.seed(0)
    masks = [F.dropout(ones).array for _ in range(2)]
    core.seed(0)
    near(core.jacobian(F.dropout, ones), np.diag(masks[0]))
    near(F.dropout(ones), masks[1])
    core.seed(None)
    single = core.jacobian(lambda x: F.cast(x, "float64") ** 2, np.ones(2, "f"))
    assert single.dtype == "float32" and single.array.tolist() == [[2, 0], [0, 2]]


@given(shapes, seeds)
def test_second_derivatives(shape, seed):
    random = np.random.default_rng(seed)
    x, y = drawn(random, shape, (2,))
    along = drawn(random, shape, (2,))

    def function(x, y):
        return F.sum(smooth(x, y)[0]) * F.sum(y**3)

    def gradients(*arrays):
        variables = [core.Variable(a) for a in arrays]
        return [g.array for g in core.grad([function(*variables)], variables)]

    first, products = core.hvp(function, [x, y], along)
    for g, p, expected, d in zip(
        first, products, gradients(x, y), differences(gradients, [x, y], along), strict=True
    ):
        near(g, expected)
        near(p, d)
    rows = core.hessian(function, x, y)
    for row, p in zip(rows, products, strict=True):
        near(
            sum(
                np.tensordot(block.array, v, axes=v.ndim)
                for block, v in zip(row, along, strict=True)
            ),
            p.array,
        )


def test_structures_have_what_their_arrays_have():
    random = np.random.default_rng(0)
    a, b, c, *along = drawn(random, *[(2,), (), (3,)] * 2)
    tree, v = ({"b": b, "a": a}, [c]), ({"a": along[0], "b": along[1]}, (along[2],))

    def of_tree(p, rest):
        y, z = of_flat(p["a"], p["b"], rest[0])
        return {"y": y, "z": [z]}

    def of_flat(a, b, c):
        return F.tanh(a) * F.sum(c) * b, F.sum(F.sin(a)) * c**2

    def total(*inputs):
        parts = of_flat(*inputs) if len(inputs) == 3 else of_tree(*inputs).values()
        return sum(F.sum(x[0] if isinstance(x, list) else x) ** 2 for x in parts)

    def by_inputs(x):
        (p, rest) = x
        assert list(p) == ["b", "a"] and type(rest) is list  # the inputs' own
        return p["a"].array, p["b"].array, rest[0].array

    def same(found, expected):
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(core.as_array(one), other.array)

    ys, pull = core.vjp(of_flat, a, b, c)
    found, pull_tree = core.vjp(of_tree, *tree)
    same((found["y"], found["z"][0]), ys)
    same(by_inputs(pull_tree({"z": [c], "y": a})), pull(a, c))
    pushed = core.jvp(of_tree, tree, v)[1]
    same((pushed["y"], pushed["z"][0]), core.jvp(of_flat, (a, b, c), along)[1])
    rows = core.jacobian(of_tree, *tree)
    same(by_inputs(rows["z"][0]), core.jacobian(lambda *x: of_flat(*x)[1], a, b, c))
    for row, expected in zip(
        [core.hessian(total, *tree)[0]["a"], core.hessian(total, *tree)[1][0]],
        core.hessian(total, a, b, c)[::2],
        strict=True,
    ):
        same(by_inputs(row), expected)
    for one, other in zip(core.hvp(total, tree, v), core.hvp(total, (a, b, c), along), strict=True):
        same(by_inputs(one), other)


def test_what_does_not_depend_has_zeros():
    x, y = np.ones(2), np.ones(3)
    (_, other), (t, u) = core.jvp(lambda x, y: (x * 2, core.Variable(np.ones(1))), [x, y], [x, y])
    assert t.array.tolist() == [2, 2] and u.array.tolist() == [0] and other.array.tolist() == [1]
    by_x, by_y = core.jacobian(lambda x, y: x * 2, x, y)
    assert by_y.array.tolist() == np.zeros((2, 3)).tolist()
    assert core.hessian(lambda x: F.sum(x), x).array.tolist() == [[0, 0], [0, 0]]
    assert core.hvp(lambda x: F.sum(x), [x], [x])[1].array.tolist() == [0, 0]


def test_second_derivatives_by_several_inputs_are_those_of_one_draw():
    x, y = np.arange(1.0, 9.0), np.arange(2.0, 10.0)

    def function(x, y):
        return F.sum(F.dropout(x) ** 2) * F.sum(F.dropout(y) ** 2)

    (_, by_y), (by_x, _) = core.hessian(function, x, y)
    assert by_y.array.any() and by_y.array.tolist() == by_x.array.T.tolist()


def test_derivatives_are_computed_where_graphs_are_not_recorded():
    with core.no_backprop_mode():
        assert core.jacobian(lambda x: x * x, np.array([3.0])).array.tolist() == [[6.0]]
        _, pull = core.vjp(lambda x: x * x, np.array([3.0]))
        assert pull(np.ones(1)).array.tolist() == [6.0]


def test_gradients_of_the_callers_variables_stay_as_they_are():
    x = core.Variable(np.ones(2))
    y = x * 2
    core.hessian(lambda v: F.sum(v * y * x), x)
    assert x.grad is None and y.requires_grad


def of_one(x):
    return F.tanh(x) * F.sum(x), F.sum(x**3)


INNER = {
    "vjp": lambda x: core.vjp(of_one, x)[1](F.exp(x), F.sum(x)),
    "weights of vjp": lambda x: core.vjp(F.tanh, np.array([0.1, 0.2]))[1](x),
    "jvp": lambda x: core.jvp(of_one, [x], [F.sin(x)])[1][1],
    "jacobian": lambda x: core.jacobian(lambda z: F.tanh(z) * F.sum(z), x),
    "hessian": lambda x: core.hessian(lambda z: F.sum(F.tanh(z)), x),
    "hvp": lambda x: core.hvp(lambda z: F.sum(F.tanh(z) * x), [x], [x * x])[1],
    "what is forgotten": lambda x: F.forget(lambda z, w: core.jvp(F.tanh, [z], [w])[1], x, x * x),
    "of one twice": lambda x: core.jacobian(lambda y, z: y * z**2 * x, x, x)[0],
    "of constants": lambda x: core.jacobian(lambda z: F.sum(z * x * x), np.ones(2)),
    "three": lambda x: core.jacobian(lambda y: core.jacobian(lambda z: z**3 * y, y), x),
}


@pytest.mark.parametrize("name", INNER)
@pytest.mark.parametrize("of", [lambda x: x, F.sin])
def test_derivatives_of_derivatives(name, of):
    x, v = np.array([0.5, 1.5]), np.array([0.3, -0.7])

    def function(x):
        return INNER[name](of(x)) * F.sum(x)

    def plain(x):
        return [function(core.Variable(x)).array]

    (expected,) = differences(plain, [x], [v])
    whole = core.jacobian(function, x)
    near(np.tensordot(whole.array, v, axes=1), expected)
    near(core.jvp(function, [x], [v])[1], expected)
    second = core.hessian(lambda x: F.sum(function(x)), x)
    rows = differences(lambda x: [core.jacobian(lambda x: F.sum(function(x)), x).array], [x], [v])
    near(second.array @ v, rows[0])
    assert not whole.requires_grad
    with pytest.raises(core.errors.GraphError, match="made of .*, by core.hessian or its kin"):
        F.sum(second).backward()


def test_they_can_be_traced():
    x, v = np.array([0.3, 2.0]), np.array([1.0, -1.0])

    def function(x, v):
        second = core.hessian(lambda x: F.sum(F.tanh(x) ** 2), x)
        return second, core.jvp(F.exp, [x], [v]), core.vjp(F.exp, x)[1](v)

    found, expected = core.trace(function, x, v)(x, v), function(x, v)
    assert found[0].array.tobytes() == expected[0].array.tobytes()
    assert found[1][1].array.tobytes() == expected[1][1].array.tobytes()
    assert found[2].array.tobytes() == expected[2].array.tobytes()


X = np.ones(2)
REFUSED = {
    "whole inputs": (lambda: core.jvp(F.exp, [np.arange(2)], [X]), "jvp: expected input 0 of real"),
    "whole outputs": (lambda: core.vjp(lambda x: x > 0, X), "vjp: expected output 0 of real"),
    "several": (lambda: core.hessian(lambda x: (x, x), X), r"one element, got \(array, array\)"),
    "structure": (
        lambda: core.jvp(lambda x: x["a"], [{"a": X}], [{"b": X}]),
        r"jvp: expected tangents of the structure \(\{'a': array\}\), got \[\{'b': array\}\]",
    ),
    "within": (lambda: core.hvp(F.sum, [[X, None]], [[X, X]]), r"input 0\[1\] to be an array"),
    "shape within": (
        lambda: core.vjp(lambda x: {"y": x}, X)[1]({"y": np.ones(3)}),
        r"vjp, weights 0\['y'\]: expected shape \(2,",
    ),
    "no scalar": (lambda: core.hessian(lambda x: x, X), r"hessian: .* one element, got the shape"),
    "no list": (lambda: core.hvp(F.sum, X, [X]), "hvp: expected a tuple or list of inputs, got nd"),
    "too few": (lambda: core.jvp(F.exp, [X], []), "jvp: expected 1 tangents, got 0"),
    "shape": (lambda: core.jvp(F.exp, [X], [np.ones(3)]), r"jvp, tangents 0: expected shape \(2,"),
    "no rows": (lambda: core.hessian(F.sum, X, chunk_size=0), "hessian: .* chunk_size .*, got 0"),
    "dtype": (lambda: core.vjp(F.exp, X)[1](np.ones(2, "f")), "vjp, weights 0: expected dtype fl"),
    "nothing": (lambda: core.jacobian(lambda: X), "jacobian: expected at least one input"),
    "nothing twice": (lambda: core.hessian(lambda: X), "hessian: expected at least one input"),
    "none": (
        lambda: core.jvp(F.exp, [None], [X]),
        "jvp: expected input 0 to be an array, got none",
    ),
    "arrays": (lambda: core.vjp(lambda x: x.array, X), "vjp: .* returns Variables, got ndarray"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_by_name(name):
    call, message = REFUSED[name]
    with pytest.raises((TypeError, ValueError, NotDifferentiable), match=message):
        call()


class Rounded(core.FunctionNode):
    """An operation without a derivative."""

    def compute(self, xp, x):
        return xp.round(x)


class Once(core.FunctionNode):
    """One whose gradient has none."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0],)

    def backward(self, indexes, grad_outputs):
        return (Rounded.call(self.get_retained_inputs()[0] * grad_outputs[0]),)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: core.jvp(f, [X], [X]),
        lambda f: core.hessian(lambda x: F.sum(f(x)), X),
        lambda f: core.hvp(lambda x: F.sum(f(x)), [X], [X]),
    ],
)
def test_operations_without_second_derivatives_are_refused_by_name(call):
    with pytest.raises(NotDifferentiable, match="Rounded"):
        call(lambda x: Once().apply((x,))[0])
    assert core.vjp(lambda x: Once().apply((x,))[0], X)[1](X).array.tolist() == [1, 1]


@pytest.mark.parametrize("take", [core.jacobian, lambda f, x: core.vjp(f, x)[1](X)])
def test_operations_without_second_derivatives_are_refused_in_nested_ones(take):
    def once(x):
        return Once().apply((x,))[0]

    with pytest.raises(NotDifferentiable, match="Rounded"):
        core.jacobian(lambda x: take(once, x), X)
