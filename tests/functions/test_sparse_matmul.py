"""Products with sparse matrices, alone and in batches, against dense ones."""

import numpy as np
import pytest

import core
import core.functions as F
from core.compat.utils import CooMatrix, get_order, to_coo
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)


def sparse(shape):
    return RANDOM.normal(size=shape) * (RANDOM.random(shape) < 0.4)


def turned(x):
    return np.swapaxes(x, -1, -2)


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize("transa", [False, True])
@pytest.mark.parametrize("transb", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_products_are_those_of_dense_matrices(lead, transa, transb, left):
    a, b = sparse((*lead, 4, 5)), sparse((*lead, 5, 2))
    expected = a @ b
    a, b = (turned(a) if transa else a), (turned(b) if transb else b)
    listed = to_coo(a if left else b)
    given = np.array(listed.data.array)

    def function(values, dense):
        matrix = CooMatrix(values, listed.row, listed.col, listed.shape)
        operands = (matrix, dense) if left else (dense, matrix)
        return F.sparse_matmul(*operands, transa, transb)

    dense = np.array(b if left else a)
    variable = core.Variable(given)
    np.testing.assert_allclose(function(variable, dense).array, expected, atol=1e-14)
    g = RANDOM.normal(size=expected.shape)
    check_backward(function, (given, dense), g)
    seeds = RANDOM.normal(size=given.shape), RANDOM.normal(size=dense.shape)
    check_double_backward(function, (given, dense), g, seeds)


def test_what_fills_up_counts_for_nothing():
    x = np.array([[[1.0, 0], [2, 3]], [[0, 0], [4, 0]]])
    matrix = to_coo(x, ldnz=5, requires_grad=True)
    assert matrix.data.shape == (2, 5)
    assert matrix.row.tolist() == [[0, 1, 1, -1, -1], [1, -1, -1, -1, -1]]
    np.testing.assert_array_equal(matrix.to_dense(), x)
    F.sum(F.sparse_matmul(matrix, np.ones((2, 2, 3)))).backward()
    np.testing.assert_array_equal(matrix.data.grad, 3.0 * (matrix.row >= 0))


def test_repeated_coordinates_add_up():
    twice = CooMatrix(np.array([1.0, 2.0]), np.array([0, 0]), np.array([1, 1]), (1, 2))
    np.testing.assert_array_equal(twice.to_dense(), [[0, 3]])
    np.testing.assert_array_equal(F.sparse_matmul(twice, np.eye(2)).array, [[0, 3]])


def test_it_runs_on_what_the_standard_offers():
    strict = core.backend.get("strict")
    a, b = sparse((2, 3, 4)), RANDOM.normal(size=(2, 4, 2))
    matrix = to_coo(strict.asarray(a))
    np.testing.assert_array_equal(strict.to_host(matrix.to_dense()), a)
    y = F.sparse_matmul(matrix, strict.asarray(b))
    np.testing.assert_allclose(strict.to_host(y.array), a @ b, atol=1e-14)


def test_orders():
    x = np.array([[1.0, 2], [3, 4]])
    matrix = to_coo(x)
    assert matrix.order == get_order(matrix.row, matrix.col) == "C"
    assert get_order(matrix.col, matrix.row) == "F"
    assert get_order(np.array([1, 0, 1]), np.array([1, 0, 0])) == "other"


def test_what_does_not_fit_is_refused():
    matrix = to_coo(np.eye(3))
    with pytest.raises(TypeError, match="one operand to be a CooMatrix"):
        F.sparse_matmul(np.eye(3), np.eye(3))
    with pytest.raises(TypeError, match="one operand to be a CooMatrix"):
        F.sparse_matmul(matrix, matrix)
    with pytest.raises(InvalidType, match="fits"):
        F.sparse_matmul(matrix, np.eye(2))
    with pytest.raises(InvalidType, match="dtype"):
        F.sparse_matmul(matrix, np.eye(3, dtype="f"))
    with pytest.raises(InvalidType, match="one or two axes"):
        CooMatrix(np.ones(2), np.array([0]), np.array([0]), (1, 1))
    with pytest.raises(ValueError, match="two positive sizes"):
        CooMatrix(np.ones(1), np.array([0]), np.array([0]), (1, 0))
    with pytest.raises(ValueError, match="order"):
        CooMatrix(np.ones(1), np.array([0]), np.array([0]), (1, 1), "D")
    with pytest.raises(ValueError, match="a batch"):
        to_coo(np.ones(3))
