"""Derivatives of the linear algebra on Variables, on stacks of matrices, and where they end."""

import numpy as np
import pytest

import core
from core import Variable
from core.errors import NotDifferentiable
from core.ops.namespace import namespace as xp
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)
LINALG = xp.linalg
SQUARE = RANDOM.normal(size=(2, 3, 3)) + 3 * np.diag([1.0, 2.0, 3.0])
SYMMETRIC = SQUARE @ np.swapaxes(SQUARE, -1, -2)
TALL, WIDE = RANDOM.normal(size=(2, 4, 3)), RANDOM.normal(size=(3, 4))
VECTOR, OTHER = RANDOM.normal(size=3), RANDOM.normal(size=3)
CALLS = {
    "cholesky": (SYMMETRIC, lambda x: LINALG.cholesky(x)),
    "cholesky, upper": (SYMMETRIC, lambda x: LINALG.cholesky(x, upper=True)),
    "cross": ((TALL[..., :3], VECTOR), LINALG.cross),
    "cross, axis": ((WIDE, WIDE + 1), lambda x, y: LINALG.cross(x, y, axis=0)),
    "det": (SQUARE, lambda x: LINALG.det(x)),
    "diagonal": (TALL, lambda x: LINALG.diagonal(x, offset=-1)),
    "eigh, values": (SYMMETRIC, lambda x: LINALG.eigh(x).eigenvalues),
    "eigh, vectors": (SYMMETRIC, lambda x: LINALG.eigh(x).eigenvectors),
    "eigvalsh": (SYMMETRIC, lambda x: LINALG.eigvalsh(x)),
    "inv": (SQUARE, lambda x: LINALG.inv(x)),
    "matmul": ((TALL, WIDE), LINALG.matmul),
    "matrix_power": (SQUARE, lambda x: LINALG.matrix_power(x, 3)),
    "matrix_power, inverse": (SQUARE, lambda x: LINALG.matrix_power(x, -2)),
    "matrix_transpose": (TALL, LINALG.matrix_transpose),
    **{
        f"matrix_norm, {order}": (TALL, lambda x, order=order: LINALG.matrix_norm(x, ord=order))
        for order in (1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")
    },
    "matrix_norm, kept": (WIDE, lambda x: LINALG.matrix_norm(x, keepdims=True, ord=2)),
    "outer": ((VECTOR, OTHER), LINALG.outer),
    "pinv, tall": (TALL, lambda x: LINALG.pinv(x)),
    "pinv, wide": (WIDE, lambda x: LINALG.pinv(x)),
    "qr, tall": (TALL, lambda x: LINALG.qr(x).Q),
    "qr, wide": (WIDE, lambda x: LINALG.qr(x).R),
    "qr, complete": (WIDE, lambda x: LINALG.qr(x, mode="complete").Q),
    "slogdet": (SQUARE, lambda x: LINALG.slogdet(x).logabsdet),
    "solve": ((SQUARE, TALL[:, :3]), LINALG.solve),
    "solve, broadcast": ((SQUARE, WIDE), LINALG.solve),
    "solve, vector": ((SQUARE, VECTOR), LINALG.solve),
    "svd, left": (TALL, lambda x: LINALG.svd(x, full_matrices=False).U),
    "svd, right": (WIDE, lambda x: LINALG.svd(x, full_matrices=False).Vh),
    "svd, values": (TALL, lambda x: LINALG.svd(x).S),
    "svd, square": (SQUARE, lambda x: LINALG.svd(x).Vh),
    "svdvals": (WIDE, lambda x: LINALG.svdvals(x)),
    "tensordot": ((TALL, WIDE), lambda x, y: LINALG.tensordot(x, y, axes=1)),
    "trace": (TALL, lambda x: LINALG.trace(x, offset=1)),
    "vecdot": ((TALL, VECTOR), LINALG.vecdot),
    **{
        f"vector_norm, {order}": (
            TALL,
            lambda x, order=order: LINALG.vector_norm(x, axis=(0, 2), ord=order),
        )
        for order in (1, 2, 3, 0.5, np.inf, -np.inf)
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    arrays, function = CALLS[name]
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    random = np.random.default_rng(1)
    g = random.normal(size=function(*arrays).shape)
    seeds = tuple([random.normal(size=a.shape) for a in arrays])
    check_backward(function, arrays, g, atol=1e-5, rtol=1e-4)
    check_double_backward(lambda *xs: function(*xs) ** 2, arrays, g, seeds, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("name", CALLS)
def test_float32_stays(name):
    arrays, function = CALLS[name]
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    xs = [Variable(a.astype("f")) for a in arrays]
    y = function(*xs)
    assert y.dtype == "float32"
    core.functions.sum(y).backward()
    assert all(x.grad.dtype == "float32" and x.grad.shape == x.shape for x in xs)


@pytest.mark.parametrize(
    ("make", "cure"),
    [
        (lambda x: LINALG.svd(x).U, "full_matrices=False"),
        (lambda x: LINALG.svd(x).Vh, "full_matrices=False"),
        (lambda x: LINALG.qr(x, mode="complete").Q, "mode='reduced'"),
    ],
)
def test_what_is_not_unique_has_no_derivative(make, cure):
    y = core.functions.sum(make(Variable(TALL)))
    with pytest.raises(NotDifferentiable, match=cure):
        y.backward()


def test_numpys_linear_algebra_finds_its_counterpart():
    x = Variable(SYMMETRIC)
    for actual, expected in (
        (np.linalg.inv(x), np.linalg.inv(SYMMETRIC)),
        (np.linalg.solve(x, VECTOR), LINALG.solve(SYMMETRIC, VECTOR).array),
        (np.linalg.eigh(x).eigenvalues, np.linalg.eigvalsh(SYMMETRIC)),
        (np.linalg.svd(x, full_matrices=False).S, np.linalg.svdvals(SYMMETRIC)),
        (np.linalg.matrix_power(x, 2), SYMMETRIC @ SYMMETRIC),
    ):
        assert isinstance(actual, Variable) and actual.requires_grad
        np.testing.assert_allclose(actual.array, expected)
    with pytest.raises(TypeError, match=r"numpy\.lstsq has no differentiable counterpart"):
        np.linalg.lstsq(x[0], VECTOR)


def test_a_rank_has_no_gradient():
    assert not LINALG.matrix_rank(Variable(TALL)).requires_grad
    assert LINALG.matrix_rank(np.ones((3, 3)), rtol=0.1).array == 1


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (2, 0, 0), (0, 2, 3)])
def test_the_rank_of_nothing_is_0(shape):
    assert LINALG.matrix_rank(np.zeros(shape)).array.tolist() == np.zeros(shape[:-2]).tolist()


@pytest.mark.parametrize("odd", [np.inf, np.nan])
@pytest.mark.parametrize("name", ["svd", "svdvals", "pinv", "matrix_rank"])
def test_singular_values_of_what_is_not_finite_are_refused(name, odd):
    # Of this one LAPACK's iteration, as it comes with NumPy, has no end.
    a = np.random.default_rng(0).normal(size=(2, 5, 6))
    a[1, 0, 4] = odd
    with pytest.raises(np.linalg.LinAlgError, match=r"svd: expected finite matrices, .* at \[1\]"):
        getattr(LINALG, name)(a)


def test_the_power_0_of_a_matrix_does_not_ask_what_is_in_it():
    x = Variable(np.array([[np.inf, 1.0], [np.nan, 2.0]]))
    y = LINALG.matrix_power(x, 0)
    xp.sum(y).backward()
    assert y.array.tolist() == [[1, 0], [0, 1]] and x.grad.tolist() == [[0, 0], [0, 0]]


def test_how_many_elements_are_not_zero_is_a_real_number():
    for dtype, real in (("complex64", "float32"), ("complex128", "float64"), ("f", "float32")):
        found = LINALG.vector_norm(Variable(np.array([3, 0, 2], dtype)), ord=0)
        assert (found.array, found.dtype) == (2, real)


@pytest.mark.parametrize("ord", [1, 2, 3, 0.5])
def test_the_norm_of_zeros(ord):
    x = Variable(np.zeros(3))
    LINALG.vector_norm(x, ord=ord).backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [1e-30, 1e30])
@pytest.mark.parametrize("ord", [3, 0.5, -2, 30])
def test_norms_of_huge_and_tiny_vectors(ord, size):
    x = Variable(np.array([[3, -4, 0], [1, -2, 5]], "f")[:, : 2 + (ord > 0)] * np.float32(size))
    y = LINALG.vector_norm(x, axis=1, ord=ord)
    y.grad = np.ones(2, "f")
    y.backward()
    scaled = x.array.astype("d") / size
    expected = (abs(scaled) ** ord).sum(1) ** (1 / ord)
    slopes = np.sign(scaled) * (np.maximum(abs(scaled), 1e-9) / expected[:, None]) ** (ord - 1)
    np.testing.assert_allclose(y.array, expected * size, rtol=1e-5)
    np.testing.assert_allclose(x.grad, slopes, rtol=1e-5, atol=1e-30)


def test_how_many_elements_are_not_0():
    assert LINALG.vector_norm(np.array([0.0, 2.0, 3.0]), ord=0).array == 2


def _chosen(a, b):
    return xp.where(a.array > b.array, a, b)


def test_operands_of_two_dtypes_get_gradients_of_their_own():
    for function in (LINALG.solve, LINALG.matmul, xp.add, xp.hypot, _chosen):
        a, b = Variable(SQUARE.astype("f")), Variable(SQUARE.copy())
        y = function(a, b)
        assert y.dtype == "float64"
        core.functions.sum(y).backward()
        assert (a.grad.dtype, b.grad.dtype) == ("float32", "float64")


def test_a_decomposition_of_rows_that_depend_on_each_other():
    x = Variable(np.ones((2, 2)))
    np.testing.assert_allclose(LINALG.pinv(x).array, np.full((2, 2), 0.25))
    assert LINALG.pinv(x, rtol=3.0).array.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    "a",
    [
        np.array([[0.0]]),
        np.zeros((3, 3)),
        np.outer([1.0, 2, 3], [4.0, 5, 6]),
        np.array([[1.0, 2, 3], [0, 0, 0], [2, 1, 5]]),
        np.array([[1.0, 2, 3], [4, 5, 6], [5, 7, 9]]),  # 0 but for rounding
        np.stack([np.eye(2), np.ones((2, 2))]),
    ],
)
def test_determinants_of_0_have_derivatives(a):
    rng = np.random.default_rng(0)
    g, gg = rng.normal(size=a.shape[:-2]), rng.normal(size=a.shape)
    check_backward(xp.linalg.det, a, g, dtype="float64")
    check_double_backward(xp.linalg.det, a, g, gg, dtype="float64")


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 2), (2, 0, 3), (0, 2, 3)])
def test_the_pseudo_inverse_of_nothing_is_nothing(shape):
    a = Variable(np.zeros(shape))
    found = xp.linalg.pinv(a)
    xp.sum(found).backward()
    assert found.shape == np.linalg.pinv(a.array).shape and a.grad.shape == shape
