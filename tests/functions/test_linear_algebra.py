"""Functions made of ops: sums of products in every notation, diagonals, and what they refuse."""

import numpy as np
import pytest
from refusals import refused_in_three_parts

import core.functions as F
from core import Variable
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2, 3, 4))


def proven(function, expected, *inputs):
    """The value is NumPy's, and both derivatives are those of finite differences."""
    y = function(*inputs)
    np.testing.assert_allclose(y.array, expected, rtol=1e-10, atol=1e-12)
    g = RANDOM.normal(size=y.shape)
    check_backward(function, inputs, g)
    check_double_backward(function, inputs, g, tuple(RANDOM.normal(size=x.shape) for x in inputs))


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ba", [(2, 3)]),
        ("ii", [(3, 3)]),
        ("ii->i", [(3, 3)]),
        ("iji->ji", [(2, 3, 2)]),
        ("iiij->j", [(2, 2, 2, 3)]),
        ("ij->", [(2, 3)]),
        ("...ij,...jk->...ik", [(2, 1, 2, 3), (4, 3, 2)]),
        ("i...->...", [(2, 3)]),
        ("ij,j", [(2, 3), (1,)]),
        ("ij,ij->ij", [(1, 3), (2, 1)]),
        ("ij->ji", [(1, 3)]),
        ("i, j, ik -> kj", [(2,), (3,), (2, 4)]),
        ("iij->ij", [(3, 3, 2)]),
        ("ij,ij->", [(2, 3), (2, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("bij,bjk->bik", [(2, 3, 2), (2, 2, 4)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("ij,ij,ij->ij", [(2, 3), (2, 3), (2, 3)]),
        ("i,i,j->j", [(2,), (2,), (3,)]),
        ("i...,i...", [(2, 3), (2, 3)]),
        ("ij,ik->jk", [(0, 3), (0, 2)]),
        ("->", [()]),
        (",i->i", [(), (3,)]),
    ],
)
def test_einsum_is_numpys(text, shapes):
    xs = [RANDOM.normal(size=shape) for shape in shapes]
    proven(lambda *xs: F.einsum(text, *xs), np.einsum(text, *xs), *xs)


def test_einsum_with_lists_of_labels():
    a, b = X[0], X[1]
    expected = np.einsum(a, [0, 1], b, [2, 1], [2, 0])
    np.testing.assert_allclose(F.einsum(a, [0, 1], b, [2, 1], [2, 0]).array, expected)
    found = F.einsum(X, [Ellipsis, 0], X, [Ellipsis, 0])
    np.testing.assert_allclose(found.array, np.einsum("...a,...a", X, X))


@pytest.mark.parametrize("axes", [1, 2, 0, (2, 0), ([1, 2], [1, 0]), (-1, -3), ((0,), (2,))])
def test_tensordot_is_numpys(axes):
    b = RANDOM.normal(size=(3, 4, 2) if axes == 2 else (4, 3, 2))
    proven(lambda a, b: F.tensordot(a, b, axes), np.tensordot(X, b, axes), X, b)


@pytest.mark.parametrize("offset", [-3, -2, -1, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (2, 1), (-1, 0)])
def test_diagonals_are_numpys(offset, axes):
    y = F.diagonal(X, offset, *axes)
    np.testing.assert_array_equal(y.array, np.diagonal(X, offset, *axes))
    if y.size:
        check_backward(lambda x: F.diagonal(x, offset, *axes), X, RANDOM.normal(size=y.shape))


def test_det_of_one_matrix():
    a = RANDOM.normal(size=(3, 3))
    proven(F.det, np.linalg.det(a), a)


def test_the_factor_of_a_symmetric_matrix_multiplies_to_it():
    a = X[0] @ X[0].T
    low = F.cholesky(a).array
    np.testing.assert_allclose(low @ low.T, a, rtol=1e-12)
    assert not np.triu(low, 1).any()


@pytest.mark.parametrize("zeros", [[], [0], [2], [1, 4], [0, 1, 6]])
def test_the_gradient_of_running_products_is_right_where_elements_are_zero(zeros):
    x = np.arange(1.0, 8.0) / 3
    x[zeros] = 0
    proven(F.cumprod, np.cumprod(x), x)


def test_scatter_add_counts_every_mention():
    places = ([0, 1, 0], [2, 2, 2])
    expected = X[0].copy()
    np.add.at(expected, places, [1.0, 2.0, 3.0])
    proven(lambda a, b: F.scatter_add(a, places, b), expected, X[0], np.array([1.0, 2.0, 3.0]))
    a = Variable(X.copy())
    y = F.scatter_add(a, (slice(None), 1), X[:, 0])
    expected = X.copy()
    expected[:, 1] += X[:, 0]
    np.testing.assert_array_equal(y.array, expected)
    np.testing.assert_array_equal(a.array, X)


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((3, 2), (1, 1), None),
        ((2, 2, 2), (4, 0, 1), 3),
        ((3,), (-2,), 6),
        ((), (), 5),
        ((0,), (1,), 0),
    ],
)
def test_strides_count_elements(shape, strides, offset):
    x = X[0]
    view = np.lib.stride_tricks.as_strided(
        x.ravel()[offset or 0 :], shape, [8 * s for s in strides]
    )
    proven(lambda x: F.as_strided(x, shape, strides, offset), view, x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.inv(X[0]), r"a.shape\[-1\] == a.shape\[-2\]|n"),
        (lambda: F.inv(X), "ndim"),
        (lambda: F.batch_inv(X[0]), "ndim"),
        (lambda: F.det(X), "a.ndim == 2"),
        (lambda: F.batch_det(X), "3 != 4"),
        (lambda: F.cholesky(X[0]), "3 != 4"),
        (lambda: F.cumsum(X, 3), "3"),
        (lambda: F.cumprod(X, -4), "4"),
        (lambda: F.logcumsumexp(X, -4), "4"),
        (lambda: F.einsum("ij,jk", X[0], X[0]), "one size for label 'j'"),
        (lambda: F.einsum("ij", X), "ndim fits 'ij'"),
        (lambda: F.tensordot(X, X, 1), "4 != 2"),
        (lambda: F.tensordot(X, X, (3, 0)), "axis of a"),
        (lambda: F.tensordot(X, X, -1), "axes >= 0"),
        (lambda: F.diagonal(X, 0, 0, 3), "axis is 3"),
        (lambda: F.scatter_add(X, 0, X), "b.shape"),
        (lambda: F.as_strided(X, (25,), (1,)), "elements 0 to 24"),
    ],
)
def test_ill_fitting_input_is_refused_in_three_parts(call, message):
    refused_in_three_parts(call, message)


ONE_SINGULAR = np.stack([np.eye(2), -np.eye(2), np.ones((2, 2))])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.einsum(), ValueError, "got nothing"),
        (lambda: F.einsum("ij->k", X[0]), ValueError, "'k' cannot stand there"),
        (lambda: F.einsum("ij,jk", X[0]), ValueError, "expected 2 operands, got 1"),
        (lambda: F.tensordot(X, X, ((0, 0), (0, 1))), ValueError, "axes of a that differ"),
        (lambda: F.tensordot(X, X, ((0,), (0, 1))), ValueError, "as many axes"),
        (lambda: F.diagonal(X, 0, 1, 1), ValueError, "each once"),
        (lambda: F.as_strided(X, (2,), (1, 1)), ValueError, "expected 1 strides"),
        (lambda: F.cumsum(X, (0, 1)), TypeError, "axis to be a whole number or None"),
        (lambda: F.inv(np.zeros((2, 2))), np.linalg.LinAlgError, "^inv: .* of .2, 2.: singular"),
        (lambda: F.batch_inv(ONE_SINGULAR), np.linalg.LinAlgError, r"at \[2\] of .*identity"),
        (lambda: F.cholesky(-np.eye(2)), np.linalg.LinAlgError, "^cholesky: .* positive definite"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
