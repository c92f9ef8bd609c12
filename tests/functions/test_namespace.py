"""The differentiable namespace gives what NumPy gives, and derivatives to the second order."""

import math

import numpy as np
import pytest

import core
from core import Variable
from core.errors import InvalidType
from core.ops.namespace import namespace as xp
from core.testing.gradient_check import check_backward, check_double_backward

A = np.array([[0.3, -1.2, 2.5], [1.7, 0.9, -0.4]])
B = np.array([[1.1, 0.6, -2.0], [-0.7, 3.0, 1.4]])
P = np.abs(A) + 1.5  # above 1, where acosh and log live
U = A / 4  # inside (-1, 1)

# name -> arguments, of which arrays of floats are made Variables
CALLS = {
    "abs": [(A,)],
    "acos": [(U,)],
    "acosh": [(P,)],
    "add": [(A, B)],
    "asin": [(U,)],
    "asinh": [(A,)],
    "atan": [(A,)],
    "atan2": [(A, B)],
    "atanh": [(U,)],
    "ceil": [(A,)],
    "clip": [(A, B, B + 1), (A, B, None), (A, -1, 1)],
    "concat": [([A, B],), ([A, B], {"axis": 1}), ([A, B[:1]], {"axis": None})],
    "copysign": [(A, B)],
    "cos": [(A,)],
    "cosh": [(A,)],
    "cumulative_prod": [(A[0],), (A, {"axis": 1}), (A, {"axis": 0, "include_initial": True})],
    "cumulative_sum": [(A[0],), (A, {"axis": 1}), (A, {"axis": -1, "include_initial": True})],
    "diff": [(A,), (A, {"axis": 0}), (A, {"n": 2}), (A, {"n": 0, "prepend": B})],
    "divide": [(A, B)],
    "exp": [(A,)],
    "expand_dims": [(A, {"axis": 0}), (A, {"axis": -1})],
    "expm1": [(A,)],
    "flip": [(A,), (A, {"axis": 1}), (A, {"axis": (0, -1)})],
    "floor": [(A,)],
    "hypot": [(A, B)],
    "log": [(P,)],
    "log10": [(P,)],
    "log1p": [(P,)],
    "log2": [(P,)],
    "logaddexp": [(A, B)],
    "matmul": [(A, B.T), (A, B[0])],
    "matrix_transpose": [(A,)],
    "max": [(A,), (A, {"axis": 1}), (A, {"axis": (0, 1), "keepdims": True})],
    "maximum": [(A, B), (A, B[0])],
    "mean": [(A,), (A, {"axis": 0}), (A, {"axis": -1, "keepdims": True})],
    "min": [(A,), (A, {"axis": 1})],
    "minimum": [(A, B)],
    "moveaxis": [(A, 0, 1)],
    "multiply": [(A, B)],
    "negative": [(A,)],
    "positive": [(A,)],
    "permute_dims": [(A, (1, 0))],
    "pow": [(P, B)],
    "prod": [(A,), (A, {"axis": 1}), (A, {"axis": 0, "keepdims": True})],
    "real": [(A,)],
    "reciprocal": [(A,)],
    "remainder": [(A, P)],
    "repeat": [(A, 2), (A, 2, {"axis": 1}), (A, [1, 3], {"axis": 0})],
    "reshape": [(A, (3, 2))],
    "roll": [
        (A, 1),
        (A, -1, {"axis": 1}),
        (A, (1, 2), {"axis": (0, 1)}),
        (A, (1, 1), {"axis": (-1, 1)}),
    ],
    "sign": [(A,)],
    "sin": [(A,)],
    "sinh": [(A,)],
    "sort": [(A,), (A, {"axis": 0})],
    "sqrt": [(P,)],
    "square": [(A,)],
    "squeeze": [(A[None], {"axis": 0})],
    "stack": [([A, B],), ([A, B], {"axis": -1})],
    "std": [(A,), (A, {"axis": 1, "correction": 1})],
    "subtract": [(A, B)],
    "sum": [(A,), (A, {"axis": 0})],
    "take": [(A, np.array([1, 1, 0]), {"axis": 1})],
    "take_along_axis": [(A, np.array([[2, 0], [1, 1]]), {"axis": 1})],
    "tan": [(U,)],
    "tanh": [(A,)],
    "tensordot": [(A, B), (A, B, {"axes": ((0, 1), (0, 1))}), (A, B.T, {"axes": 1})],
    "tile": [(A, (2, 1, 3))],
    "tril": [(A,), (A, {"k": 1})],
    "triu": [(A,), (A, {"k": -1})],
    "trunc": [(A,)],
    "var": [(A,), (A, {"axis": 0}), (A, {"axis": 1, "correction": 1.0, "keepdims": True})],
    "vecdot": [(A, B), (A[:, :2], B[:, 0], {"axis": 0})],
    "where": [(A > 0, A, B), (A > 0, A, 0.5)],
}
WITHOUT_GRADIENT = {
    "all": [(A > 0,), (A > 0, {"axis": 1})],
    "any": [(A > 0,), (A > 0, {"axis": 1, "keepdims": True})],
    "argmax": [(A,), (A, {"axis": 1})],
    "argmin": [(A, {"axis": 0, "keepdims": True})],
    "argsort": [(A,), (A, {"axis": 0})],
    "bitwise_and": [(np.array([6]), np.array([3]))],
    "bitwise_invert": [(np.array([6]),)],
    "bitwise_left_shift": [(np.array([6]), np.array([3]))],
    "bitwise_or": [(np.array([6]), np.array([3]))],
    "bitwise_right_shift": [(np.array([6]), np.array([1]))],
    "bitwise_xor": [(np.array([6]), np.array([3]))],
    "count_nonzero": [(A > 0, {"axis": 1})],
    "equal": [(A, B)],
    "floor_divide": [(A, B)],
    "greater": [(A, B)],
    "greater_equal": [(A, B)],
    "isfinite": [(np.array([1, np.inf, np.nan]),)],
    "isinf": [(np.array([1, np.inf, np.nan]),)],
    "isnan": [(A,)],
    "less": [(A, B)],
    "less_equal": [(A, B)],
    "logical_and": [(A > 0, B > 0)],
    "logical_not": [(A > 0,)],
    "logical_or": [(A > 0, B > 0)],
    "logical_xor": [(A > 0, B > 0)],
    "nextafter": [(A, B)],
    "not_equal": [(A, B)],
    "round": [(A,)],
    "searchsorted": [(np.sort(A[0]), B[0])],
    "signbit": [(A,)],
}
"""Some of these give results of another dtype; none has a derivative worth the name."""


def calls(table):
    return [
        pytest.param(name, call, id=f"{name}-{i}")
        for name, those in table.items()
        for i, call in enumerate(those)
    ]


def split(call):
    return (call[:-1], call[-1]) if isinstance(call[-1], dict) else (call, {})


def on(function, arguments, options):
    """A function of the floating arrays among (or listed first among) the arguments alone."""
    if isinstance(arguments[0], list):
        return tuple(arguments[0]), lambda *xs: function(list(xs), *arguments[1:], **options)
    floats = [
        i for i, a in enumerate(arguments) if str(getattr(a, "dtype", "")).endswith("float64")
    ]

    def called(*xs):
        given = list(arguments)
        for i, x in zip(floats, xs, strict=True):
            given[i] = x
        return function(*given, **options)

    return tuple([arguments[i] for i in floats]), called


def moved(argument, backend):
    if isinstance(argument, np.ndarray):
        return backend.asarray(argument)
    whole = isinstance(argument, list) and isinstance(argument[0], np.ndarray)
    return [backend.asarray(a) for a in argument] if whole else argument


@pytest.mark.parametrize("where", ["numpy", "strict"])
@pytest.mark.parametrize(("name", "call"), calls(CALLS | WITHOUT_GRADIENT))
def test_values(name, call, where):
    backend = core.backend.get(where)
    arguments, options = split(call)
    arrays, function = on(
        getattr(xp, name), [moved(argument, backend) for argument in arguments], options
    )
    actual = function(*map(Variable, arrays)) if arrays else function()
    if not hasattr(np, name):
        pytest.skip(f"this NumPy has no {name} to compare with")
    expected = getattr(np, name)(*arguments, **options)
    assert isinstance(actual, Variable)
    assert actual.backend is backend
    found = backend.to_host(actual.array)
    assert found.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "call"), calls(CALLS))
def test_derivatives(name, call):
    """Of the function squared, so that there is a second derivative of linear ones as well."""
    arguments, options = split(call)
    arrays, function = on(getattr(xp, name), arguments, options)
    random = np.random.default_rng(0)
    g = random.normal(size=function(*arrays).shape)
    seeds = tuple([random.normal(size=a.shape) for a in arrays])
    no_grads = [False, True] if name == "copysign" else None
    check_backward(function, arrays, g, atol=1e-5, rtol=1e-4, no_grads=no_grads)
    check_double_backward(lambda *xs: function(*xs) ** 2, arrays, g, seeds, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_no_gradient(name):
    arguments, options = split(WITHOUT_GRADIENT[name][0])
    arrays, function = on(getattr(xp, name), arguments, options)
    assert not function(*map(Variable, arrays)).requires_grad


@pytest.mark.parametrize(
    ("name", "call"),
    calls(
        {
            "arange": [(3,), (1, 7, 2), (3, {"dtype": "float32"})],
            "eye": [(2,), (2, 3, {"k": 1})],
            "full": [((2, 2), 7.0)],
            "full_like": [(A, 7)],
            "linspace": [(0, 1, 5), (0, 1, 4, {"endpoint": False})],
            "ones": [((2, 3),), (2, {"dtype": "float32"})],
            "ones_like": [(A,)],
            "zeros": [((2, 3),), ((), {"dtype": "int32"})],
            "zeros_like": [(A,)],
        }
    ),
)
def test_creation(name, call):
    arguments, options = split(call)
    actual = getattr(xp, name)(*arguments, **options)
    expected = getattr(np, name)(*arguments, **options)
    assert (actual.dtype, actual.requires_grad) == (expected.dtype, False)
    np.testing.assert_array_equal(actual.array, expected)


def test_creation_on_the_device_of_a_variable():
    x = Variable(core.backend.get("strict").asarray(A))
    for y in (xp.arange(3, device=x.device), xp.full_like(x, 1.0), xp.empty_like(x)):
        assert y.device == x.device


def test_unstack_meshgrid_and_broadcast_arrays():
    for actual, expected in (
        (xp.unstack(Variable(A), axis=1), [A[:, i] for i in range(3)]),
        (xp.meshgrid(A[0], B[1]), np.meshgrid(A[0], B[1])),
        (
            xp.meshgrid(A[0], B[1], A[1], indexing="ij"),
            np.meshgrid(A[0], B[1], A[1], indexing="ij"),
        ),
        (xp.broadcast_arrays(A, B[0]), np.broadcast_arrays(A, B[0])),
        (xp.nonzero(Variable(A > 0)), np.nonzero(A > 0)),
    ):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(one.array, other)


def test_clip_takes_numbers_arrays_and_none():
    x = Variable(A)
    np.testing.assert_array_equal(xp.clip(x, -1, 1).array, np.clip(A, -1, 1))
    np.testing.assert_array_equal(xp.clip(x, max=B).array, np.minimum(A, B))
    np.testing.assert_array_equal(xp.clip(np.arange(5), 1, 3).array, [1, 1, 2, 3, 3])


def test_constants_are_pythons():
    assert (xp.pi, xp.e, xp.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(xp.nan)


def test_descending_sorts_are_stable():
    x = np.array([2, 1, 2, 3, 1])
    assert xp.argsort(x, descending=True).array.tolist() == [3, 0, 2, 1, 4]
    assert xp.sort(Variable(A), descending=True).array.tolist() == np.sort(A)[:, ::-1].tolist()


def test_integers_stay_integers():
    x = np.array([[4, -7], [9, 2]])
    for name in ("max", "min", "prod", "sum"):
        np.testing.assert_array_equal(getattr(xp, name)(x).array, getattr(np, name)(x))
    for name in ("prod", "sum"):
        assert getattr(xp, name)(x.astype("int16"), dtype="int16").dtype == "int16"
    for name in ("maximum", "minimum", "remainder"):
        y = getattr(xp, name)(x, np.array([3, 5]))
        assert y.dtype.kind == "i"
        np.testing.assert_array_equal(y.array, getattr(np, name)(x, [3, 5]))


@pytest.mark.parametrize(
    "name",
    ["maximum", "minimum", "remainder", "floor_divide", "add", "bitwise_and", "bitwise_left_shift"],
)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16"])
def test_numbers_beside_integers_take_their_dtype(name, dtype):
    x, function = np.array([4, 7, 1], dtype), getattr(xp, name)
    expected = getattr(np, name)(x, x.dtype.type(3))
    for number in (3, np.int64(3), np.uint8(3)):
        for y in (function(Variable(x), number), function(x, number)):
            np.testing.assert_array_equal(y.array, expected, strict=True)
    for number in (2.5, np.float32(2.5), 10**30, -(10**5) if dtype != "int32" else 2**31):
        with pytest.raises(InvalidType, match=r"beside u?int"):
            function(Variable(x), number)


@pytest.mark.parametrize("name", ["maximum", "minimum", "remainder"])
def test_integers_without_a_common_integer_are_refused(name):
    with pytest.raises(InvalidType, match="int64 != uint64"):
        getattr(xp, name)(Variable(np.ones(1, "int64")), Variable(np.ones(1, "uint64")))
    assert getattr(xp, name)(np.ones(1, "int8"), np.ones(1, "int32")).dtype == "int32"


def test_remainders_are_promoted_by_functions_and_not_by_operators():
    x, y = Variable(np.ones(1, "int32")), Variable(np.ones(1, "int64"))
    assert xp.remainder(x, y).dtype == "int64"
    with pytest.raises(InvalidType, match="int32 != int64"):
        x % y


def test_numpys_own_functions_find_their_counterparts():
    x = Variable(A)
    for actual, expected in (
        (np.exp(x), np.exp(A)),
        (np.maximum(x, B), np.maximum(A, B)),
        (np.max(x, axis=1), np.max(A, 1)),
        (np.mean(x, 0), np.mean(A, 0)),
        (np.concatenate([x, x]), np.concatenate([A, A])),
        (np.expand_dims(x, 0), A[None]),
        (np.stack([x, x], axis=1), np.stack([A, A], axis=1)),
        (np.where(A > 0, x, 0.0), np.where(A > 0, A, 0)),
        (np.squeeze(x[None]), A),
        (np.clip(x, -1, 1), np.clip(A, -1, 1)),
        (np.arctan2(x, B), np.arctan2(A, B)),
        (np.diff(x, 2, 0), np.diff(A, 2, 0)),
        (np.diff(x, 1, 0), np.diff(A, 1, 0)),
        (np.max(x, 0, None, True), np.max(A, 0, None, True)),
        (np.take(x, np.array([1, 0]), 1), np.take(A, [1, 0], 1)),
        (np.clip(x, a_min=-1, a_max=1), np.clip(A, -1, 1)),
        (np.var(x, 1, ddof=1), np.var(A, 1, ddof=1)),
    ):
        assert isinstance(actual, Variable)
        assert actual.requires_grad
        np.testing.assert_array_equal(actual.array, expected)


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_are_of_matrices(name):
    with pytest.raises(ValueError, match=f"{name}: expected at least 2 axes, got 1"):
        getattr(xp, name)(Variable(np.ones(3)))


@pytest.mark.parametrize("correction", [2, 3, 2.5])
def test_a_variance_of_which_no_count_is_left_is_not_a_number(correction):
    x = Variable(A)
    assert np.isnan([x.var(0, ddof=correction).array, x.std(0, ddof=correction).array]).all()


OF_AXES = {
    "cumulative_prod": lambda x, axis: xp.cumulative_prod(x, axis=axis),
    "cumulative_sum": lambda x, axis: xp.cumulative_sum(x, axis=axis),
    "diff": lambda x, axis: xp.diff(x, axis=axis),
    "roll": lambda x, axis: xp.roll(x, 1, axis=(0, axis)),
    "take": lambda x, axis: xp.take(x, np.array([0]), axis=axis),
    "tensordot": lambda x, axis: xp.tensordot(x, x, axes=([axis], [0])),
    "cross": lambda x, axis: xp.linalg.cross(x, x, axis=axis),
    "vecdot": lambda x, axis: xp.vecdot(x, x, axis=axis),
}


@pytest.mark.parametrize("axis", [2, -3])
@pytest.mark.parametrize("name", OF_AXES)
def test_axes_that_an_array_has_not_are_refused(name, axis):
    with pytest.raises(InvalidType, match=rf"(?s){name}.*-2 <= axis.* < 2.*{axis}"):
        OF_AXES[name](Variable(np.ones((2, 2))), axis)


@pytest.mark.parametrize("axes", [-1, 3])
def test_tensordot_sums_over_as_many_axes_as_there_are(axes):
    with pytest.raises(InvalidType, match="tensordot"):
        xp.tensordot(Variable(A), Variable(B), axes=axes)


def test_an_array_without_axes_is_refused_where_one_is_needed():
    for name in ("cumulative_sum", "diff"):
        with pytest.raises(InvalidType, match=name):
            getattr(xp, name)(Variable(np.array(1.0)), axis=-1)


def test_repeat_takes_an_array_of_numbers():
    y = xp.repeat(Variable(A), Variable(np.array([2, 1])), axis=0)
    np.testing.assert_array_equal(y.array, np.repeat(A, [2, 1], axis=0))


MADE_OF_NUMBERS = {
    "arange": lambda end: xp.arange(end),
    "full": lambda end: xp.full(3, end),
    "full_like": lambda end: xp.full_like(A, end),
    "linspace": lambda end: xp.linspace(0, end, 4),
    "numpy.linspace": lambda end: np.linspace(0, end, 4),
}


@pytest.mark.parametrize("name", MADE_OF_NUMBERS)
def test_new_arrays_are_made_of_numbers_in_variables_without_gradients(name):
    make = MADE_OF_NUMBERS[name]
    y = make(Variable(np.array(3.0), requires_grad=False))
    np.testing.assert_array_equal(core.as_array(y), core.as_array(make(np.array(3.0))))
    with pytest.raises(TypeError, match="needs a gradient, which a plain array would"):
        make(Variable(np.array(3.0)))
