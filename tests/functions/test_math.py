"""What the walk over the ops does not reach: functions that are made of ops, ties, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_in_three_parts

import core
import core.functions as F
from core import Variable
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward

X = np.random.default_rng(0).normal(size=(2, 3, 4))


def same(actual, expected):
    np.testing.assert_allclose(actual.array, expected, rtol=1e-13)


@pytest.mark.parametrize("axis", [None, 1, -1, (0, 2), [0, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "average", "max", "min", "prod"])
def test_reductions_are_numpys(name, axis, keepdims):
    numpys = tuple(axis) if isinstance(axis, list) else axis
    plain = np.mean if name == "average" else getattr(np, name)
    same(getattr(F, name)(X, axis=axis, keepdims=keepdims), plain(X, numpys, keepdims=keepdims))


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_a_sum_of_truth_values_is_their_count(backend):
    mask = core.backend.get(backend).asarray(X > 0)
    for axis in (None, 1):
        y = F.sum(mask, axis)
        assert y.backend.dtype_name(y.dtype) == "int64"
        np.testing.assert_array_equal(y.backend.to_host(y.array), np.sum(X > 0, axis))


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (1, 2), (0, 2), (2, 0), (-1, 1), (1, 2, 0)])
def test_weighted_means_are_numpys(axis):
    axes = range(3) if axis is None else (axis,) if isinstance(axis, int) else axis
    w = np.random.default_rng(1).uniform(0.5, 2, size=[X.shape[a] for a in axes])
    expected = np.average(X, axis, w)
    same(F.average(X, axis, w), expected)
    check_backward(lambda x, w: F.average(x, axis, w), (X, w), np.ones(expected.shape))


@pytest.mark.parametrize("axis", [None, 1, (0, 2), (1, 1), (0, 3)])
def test_weights_along_other_axes_than_the_mean_are_refused(axis):
    with pytest.raises(InvalidType, match=r"mean \(Forward\)"):
        F.mean(np.ones((2, 3, 3), "f"), axis, np.ones((3, 3), "f"))


def test_weights_may_have_the_whole_shape():
    w = np.random.default_rng(1).uniform(0.5, 2, size=X.shape)
    same(F.mean(X, 1, w, keepdims=True), np.average(X, 1, w, keepdims=True))


def test_the_gradient_of_a_product_is_right_where_elements_are_zero():
    for zeros in ([], [1], [1, 4]):
        x = np.arange(1.0, 8.0)
        x[zeros] = 0
        check_backward(F.prod, x, np.array(1.5))
        check_double_backward(F.prod, x, np.array(1.5), np.ones(7))


def test_prod_of_some_elements_with_zeros_has_the_products_of_the_others():
    x = np.random.default_rng(0).normal(size=(5, 7))
    x[1, 3] = x[2, 0] = x[2, 6] = 0
    others = np.array([[np.prod(np.delete(row, i)) for i in range(7)] for row in x])
    for turned, axis in ((x, 1), (x.T, 0)):
        v = core.Variable(turned.astype("f"))
        F.sum(F.prod(v, axis=axis)).backward()
        expected = others if axis else others.T
        np.testing.assert_allclose(v.grad, expected, rtol=1e-5, atol=1e-6)


def test_every_one_of_equal_extrema_gets_the_gradient():
    x = Variable(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]]))
    F.sum(F.max(x, axis=1)).backward()
    assert x.grad.tolist() == [[0, 1, 1], [1, 1, 0]]
    a, b = Variable(np.array([1.0])), Variable(np.array([1.0]))
    F.maximum(a, b).backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1], [0])


def test_kinks_have_the_stated_derivatives():
    def slope(function, at):
        x = Variable(np.array([at]))
        function(x).backward()
        return x.grad.item()

    assert slope(F.relu, 0.0) == 0
    assert slope(F.leaky_relu, 0.0) == 0.2
    assert slope(F.elu, 0.0) == 1
    assert slope(lambda x: F.elu(x, alpha=0.5), 0.0) == 0.5
    assert slope(F.absolute, 0.0) == slope(F.sign, 0.0) == 0
    assert slope(lambda x: F.clip(x, -1.0, 1.0), 1.0) == 1
    assert slope(lambda x: F.clipped_relu(x, 2.0), 2.0) == 0
    assert slope(F.hard_sigmoid, 2.5) == 0
    with np.errstate(divide="ignore"):
        assert slope(F.sqrt, 0.0) == np.inf


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(-2, 2))
def test_derivatives_of_powers_are_those_of_polynomials(exponents, at):
    x = Variable(np.full(len(exponents), at, "d"))
    y, expected = x ** np.array(exponents, "d"), [np.eye(5)[n] for n in exponents]
    for order in range(4):
        values = [np.polynomial.polynomial.polyval(at, c) for c in expected]
        np.testing.assert_allclose(y.array, values, err_msg=f"derivative {order}")
        (y,) = core.grad([y], [x], enable_double_backprop=True)
        expected = [np.polynomial.polynomial.polyder(c) for c in expected]


def test_huge_and_infinite_values():
    big = np.array([1e4, -1e4])
    same(F.sigmoid(big), [1, 0])
    same(F.softplus(big), [1e4, 0])
    same(F.elu(big), [1e4, -1])
    same(F.silu(big), [1e4, 0])
    same(F.logsumexp(big), 1e4)
    same(F.softmax(big[None]), [[1, 0]])
    same(F.log_softmax(big[None]), [[0, -2e4]])
    nothing = Variable(np.full((2, 3), -np.inf))
    with np.errstate(divide="ignore"):
        y = F.logsumexp(nothing, axis=1)
    assert y.array.tolist() == [-np.inf] * 2
    F.sum(y).backward()
    assert nothing.grad.tolist() == np.zeros((2, 3)).tolist()


@pytest.mark.parametrize("name", ["relu", "maximum", "max", "exp", "clip", "softmax", "sum"])
def test_nan_propagates(name):
    x = np.array([[np.nan, 1.0]])
    more = {"maximum": (np.zeros((1, 2)),), "clip": (0.0, 2.0)}.get(name, ())
    assert np.isnan(getattr(F, name)(x, *more).array).any()


@pytest.mark.parametrize(("transa", "transb"), [(False, False), (True, False), (False, True)])
def test_matrix_products(transa, transb):
    a = X[0].T if transa else X[0]
    b = X[1] if transb else X[1].T
    same(F.matmul(a, b, transa, transb), X[0] @ X[1].T)
    a3 = X.swapaxes(1, 2) if transa else X
    b3 = X if transb else X.swapaxes(1, 2)
    same(F.batch_matmul(a3, b3, transa, transb), X @ X.swapaxes(1, 2))
    check_backward(lambda a, b: F.matmul(a, b, transa, transb), (a, b), np.ones((3, 3)))


def test_products_with_vectors():
    v = np.arange(4.0)
    same(F.matmul(X, v), X @ v)
    same(F.matmul(v, v, transa=True), v @ v)
    same(F.batch_matmul(X, X[:, 0]), (X @ X[:, 0, :, None]))


def test_scale_bias_prelu_and_swish_go_along_axes():
    w = np.random.default_rng(1).normal(size=(3,))
    column = w[:, None]
    same(F.scale(X, w), X * column)
    same(F.bias(X, w), X + column)
    same(F.scale(X, X[0, 0], axis=-1), X * X[0, 0])
    same(F.prelu(X, w), np.where(X > 0, X, X * column))
    same(F.swish(X, w), X / (1 + np.exp(-column * X)))
    for name in ("prelu", "swish"):
        with pytest.raises(InvalidType, match=r"x.shape\[1:2\] == \w+.shape\nActual: \(3,\)"):
            getattr(F, name)(X, w[:2])
    with pytest.raises(InvalidType, match=r"in: scale \(Forward\)\n\nExpect: x.shape\[1:3\]"):
        F.scale(X, X[0].T)


def test_maxout():
    x = np.arange(12.0).reshape(2, 6)
    same(F.maxout(x, 3), [[2, 5], [8, 11]])
    same(F.maxout(x, 2, axis=0), [x[1]])
    with pytest.raises(InvalidType, match=r"x.shape\[1\] % 4 == 0\nActual: 2 != 0"):
        F.maxout(x, 4)


def test_selu_add_and_identity():
    same(F.selu(np.array([2.0])), [2 * 1.0507009873554805])
    same(F.add(X, X, X), X + X + X)
    with pytest.raises(TypeError, match="at least one"):
        F.add()
    one, other = F.identity(X, X)
    assert one.array is other.array is X


def test_numbers_stand_for_arrays_of_the_others_dtype():
    x = np.array([1, -2], "float32")
    for y in (
        F.maximum(x, 0.5),
        F.minimum(0.5, x),
        F.fmod(x, 2),
        F.arctan2(x, 1.0),
        F.squared_difference(x, 1),
    ):
        assert y.dtype == np.float32


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize(("axis", "shape"), [(None, (2, 2**30 + 1)), (1, (1, 2**31 + 1))])
def test_places_that_no_int32_holds_are_int64(name, axis, shape, monkeypatch):
    monkeypatch.setattr(np, name.lower(), lambda x, axis: np.int64(2**31))  # looking takes long
    x = np.broadcast_to(np.float32(0), shape)
    assert getattr(F, name)(axis).compute(np, x) == 2**31


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.sum(X, 3), "ndim"),
        (lambda: F.mean(np.zeros((0, 2)), 0), "shape"),
        (lambda: F.max(np.zeros(0)), "shape"),
        (lambda: F.argmax(X, -4), "ndim"),
        (lambda: F.exp(np.arange(3)), "x.dtype is floating"),
        (lambda: F.maximum(X, X.astype("float32")), "dtype"),
        (lambda: F.batch_matmul(X, X[:1]), "shape"),
        (lambda: F.batch_matmul(X[0, 0], X), "ndim"),
        (lambda: F.softmax(X, axis=3), "ndim"),
    ],
)
def test_ill_fitting_input_is_refused_in_three_parts(call, message):
    refused_in_three_parts(call, message)


def test_axes_that_are_none():
    with pytest.raises(ValueError, match="axes that differ"):
        F.sum(X, (0, 0))
    with pytest.raises(TypeError, match="axis to be a whole number.* or None, got float 1.5"):
        F.sum(X, 1.5)
    with pytest.raises(ValueError, match="x_min <= x_max"):
        F.clip(X, 1, 0)
