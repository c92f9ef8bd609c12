"""NumPy's functions on Variables: what NumPy gives, differentiably, in the forms people write."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from core import Variable

A = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4))

DIFFERENTIABLE = {
    "sum": lambda v: np.sum(v),
    "sum over an axis by position": lambda v: np.sum(v, 0),
    "sum over axes": lambda v: np.sum(v, axis=(0, 1), keepdims=True),
    "mean": lambda v: np.mean(v, 1),
    "var": lambda v: np.var(v, axis=0),
    "std": lambda v: np.std(v),
    "max": lambda v: np.max(v, 1),
    "min": lambda v: np.min(v, axis=0, keepdims=True),
    "prod": lambda v: np.prod(v, 0),
    "clip": lambda v: np.clip(v, 0.05, 0.95),
    "flip": lambda v: np.flip(v, 0),
    "roll": lambda v: np.roll(v, 1, 0),
    "roll all": lambda v: np.roll(v, 1),
    "repeat": lambda v: np.repeat(v, 2, 0),
    "tile": lambda v: np.tile(v, (2, 1)),
    "sort": lambda v: np.sort(v, 0),
    "transpose": lambda v: np.transpose(v, (1, 0)),
    "reshape": lambda v: np.reshape(v, -1),
    "stack": lambda v: np.stack([v, v * v], 1),
    "concatenate": lambda v: np.concatenate([v, A, v], axis=0),
    "concatenate all": lambda v: np.concatenate([v, v], axis=None),
    "expand_dims": lambda v: np.expand_dims(v, 0),
    "squeeze": lambda v: np.squeeze(v[None], 0),
    "moveaxis": lambda v: np.moveaxis(v, 0, -1),
    "broadcast_to": lambda v: np.broadcast_to(v, (2, 3, 4)),
    "where": lambda v: np.where(A > 0.5, v, 0),
    "tensordot": lambda v: np.tensordot(v, v.T, 1),
    "matmul": lambda v: np.matmul(v, v.T),
    "take": lambda v: np.take(v, np.array([0, 1, 1]), axis=1),
    "take by a list": lambda v: np.take(v, [[0, 1], [-1, 1]], axis=-1),
    "take one": lambda v: np.take(v, 1, 0),
    "take of all": lambda v: np.take(v, [5, 0, 5]),
    "maximum": lambda v: np.maximum(v, 0.05),
    "logaddexp": lambda v: np.logaddexp(v, v),
    "arctan2": lambda v: np.arctan2(v, A),
    "power": lambda v: np.power(2, v),
    "subtract": lambda v: np.subtract(1, v),
    "hypot": lambda v: np.hypot(v, A),
    "einsum": lambda v: np.einsum("ij,kj->ik", v, v),
    "average": lambda v: np.average(v, 1),
    "cumprod": lambda v: np.cumprod(v, 1),
    "diagonal": lambda v: np.diagonal(np.stack([v, v]), 1),
    "dstack": lambda v: np.dstack([v, v]),
    "fliplr": lambda v: np.fliplr(v),
    "flipud": lambda v: np.flipud(v),
    "fmod": lambda v: np.fmod(v, 0.3),
    "hstack": lambda v: np.hstack([v[0], A[0], v[1]]),
    "rollaxis": lambda v: np.rollaxis(np.stack([v, v]), 2, 1),
    "vstack": lambda v: np.vstack((v, v[0])),
    "pad": lambda v: np.pad(v, 1),
    "pad by a mode": lambda v: np.pad(v, ((1, 0), (0, 2)), "reflect"),
    "split": lambda v: np.split(v, 3)[1],
    "split at places": lambda v: np.split(v, [1, 3], 1)[1],
    "append": lambda v: np.append(v, A[:2]),
    "append along an axis": lambda v: np.append(A, v, 1),
    "array_split": lambda v: np.array_split(v, 3, 1)[0],
    "array_split, the last": lambda v: np.array_split(v, 3, axis=1)[2],
    "array_split at places": lambda v: np.array_split(v, [1], 1)[1],
    "atleast_1d": lambda v: np.atleast_1d(v[0, 0], v)[0],
    "atleast_2d": lambda v: np.atleast_2d(v[0]),
    "column_stack": lambda v: np.column_stack([v[:, 0], A, v]),
    "diag of a matrix": lambda v: np.diag(v, 1),
    "diag of a vector": lambda v: np.diag(v[0], -1),
    "hsplit": lambda v: np.hsplit(v, 2)[1],
    "hsplit of a vector": lambda v: np.hsplit(v[0], [1])[1],
    "inner": lambda v: np.inner(v, A[:2]),
    "inner with a number": lambda v: np.inner(v[0, 0], v),
    "kron": lambda v: np.kron(v, A[0, :2]),
    "kron beside": lambda v: np.kron(A[0], v),
    "median": lambda v: np.median(v),
    "median of rows": lambda v: np.median(v, axis=1, keepdims=True),
    "median of stacks": lambda v: np.median(np.stack([v, v * v, v - 1]), axis=(0, -1)),
    "cross": lambda v: np.cross(v[:, :3], A[:, :3]),
    "cross, other axes": lambda v: np.cross(A, v, axisa=0, axisb=0, axisc=0),
    "outer": lambda v: np.outer(v, A[0]),
    "percentile": lambda v: np.percentile(v, 30, 1),
    "quantile": lambda v: np.quantile(v, 0.3, axis=0),
    "rot90": lambda v: np.rot90(v),
    "rot90 back": lambda v: np.rot90(np.stack([v, v * v]), -1, (2, 0)),
    "trapezoid": lambda v: np.trapezoid(v, dx=0.5, axis=0),
    "trapezoid, places": lambda v: np.trapezoid(v, v * v),
    "trapezoid, one axis of places": lambda v: np.trapezoid(A, v[:, 0], axis=0),
    "vdot": lambda v: np.vdot(v, A),
    "divmod": lambda v: np.divmod(v, 0.3)[1],
    "ptp": lambda v: np.ptp(v, 1),
    "trace": lambda v: np.trace(np.stack([v, v * v]), 1),
    "trace of the last axes": lambda v: np.trace(np.stack([v, v * v]), axis1=1, axis2=2),
    "vsplit": lambda v: np.vsplit(v, [2])[0],
    "singular values": lambda v: np.linalg.svd(v, compute_uv=False),
    "singular values by position": lambda v: np.linalg.svd(v, True, False),
    "norm": lambda v: np.linalg.norm(v[None]),
    "norm of rows": lambda v: np.linalg.norm(v, axis=1, keepdims=True),
    "norm over axes": lambda v: np.linalg.norm(v, axis=(0, 1)),
    "norm of another order": lambda v: np.linalg.norm(v, 3, 0),
    "norm of a vector": lambda v: np.linalg.norm(v[0], 1),
    "norm of a matrix": lambda v: np.linalg.norm(v, "nuc"),
}

PLAIN = {
    "argmax": lambda v: np.argmax(v, 1),
    "argsort": lambda v: np.argsort(v),
    "any": lambda v: np.any(v > 0.5, 0),
    "isfinite": lambda v: np.isfinite(v),
    "round": lambda v: np.round(v, 2),
    "sign": lambda v: np.sign(v),
    "zeros_like": lambda v: np.zeros_like(v),
    "floor_divide": lambda v: np.floor_divide(v, 0.3),
    "divmod, the quotient": lambda v: np.divmod(v, 0.3)[0],
    "divmod beside": lambda v: divmod(A, v)[1],
    "count_nonzero": lambda v: np.count_nonzero(v),
    "fix": lambda v: np.fix(3 * v),
}


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # since NumPy 2.5
@pytest.mark.parametrize("name", [*DIFFERENTIABLE, *PLAIN])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_dtypes(name, dtype):
    function = (DIFFERENTIABLE | PLAIN)[name]
    global A
    kept, A = A, A.astype(dtype)
    try:
        expected, found = np.asarray(function(A)), function(Variable(A))
    finally:
        A = kept
    assert type(found) is Variable and found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.array, expected, rtol=1e-5)


@pytest.mark.parametrize("function", [np.append, np.inner, np.outer])
def test_numbers_and_lists_take_the_dtype(function):
    x = A[0].astype("f")
    for other in (0.5, [1, 2, 0, 0.5]):
        for pair, plain in (((Variable(x), other), (x, other)), ((other, Variable(x)), (other, x))):
            found = function(*pair)
            assert found.dtype == "float32"
            np.testing.assert_allclose(found.array, function(*plain), rtol=1e-6)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    function = DIFFERENTIABLE[name]
    gy = np.random.default_rng(1).uniform(-1, 1, np.shape(function(A)))
    core.gradient_check.check_backward(function, A.copy(), gy, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"nan": 2.0, "posinf": 3.0}, {"neginf": -1}])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_no_number_is_replaced_and_has_no_gradient(dtype, options):
    x = Variable(np.array([1, np.nan, np.inf, -np.inf, -2], dtype))
    y = np.nan_to_num(x, **options)
    F.sum(y * np.array([1, 1, 0, 0, 1], dtype)).backward()
    np.testing.assert_array_equal(y.array, np.nan_to_num(x.array, **options))
    assert y.dtype == dtype and x.grad.tolist() == [1, 0, 0, 0, 1]
    assert np.nan_to_num(Variable(np.arange(3))).array.tolist() == [0, 1, 2]


@given(
    q=st.lists(st.floats(0, 1), min_size=1, max_size=3),
    axis=st.sampled_from([None, 0, -1, (0, 2), (1, -1, 0)]),
    keepdims=st.booleans(),
)
def test_quantiles(q, axis, keepdims):
    x = np.random.default_rng(0).normal(size=(3, 2, 5))
    x[0, 1, 2], x[1, 0] = np.nan, np.inf
    for given_q in (q, np.array([q, q])):
        found = np.quantile(Variable(x), given_q, axis, keepdims=keepdims)
        plain = np.quantile(np.where(x == np.inf, 1e300, x), given_q, axis, keepdims=keepdims)
        finite = plain < 1e299
        assert found.shape == plain.shape and np.array_equal(np.isnan(found.array), plain != plain)
        np.testing.assert_allclose(found.array[finite], plain[finite])


def test_quantiles_that_are_none():
    with pytest.raises(ValueError, match=r"numpy.quantile: expected q in \[0, 1\], got 30"):
        np.quantile(Variable(A), 30)
    with pytest.raises(TypeError, match="expected method='linear' of a Variable, got 'lower'"):
        np.quantile(Variable(A), 0.5, method="lower")


@pytest.mark.parametrize(
    "call",
    [
        lambda v: np.interp(v, v, v),
        lambda v: np.nanmean(v),
        lambda v: np.polyfit(v[0], v[0], 1),
        lambda v: np.linalg.lstsq(v, v),
    ],
)
def test_what_is_missing_is_refused_by_name(call):
    with pytest.raises(TypeError, match=r"numpy.\w+ has no differentiable counterpart"):
        call(Variable(A))


@pytest.mark.parametrize(
    "call",
    [
        lambda v: np.std(v, where=A > 0.5),
        lambda v: np.max(v, initial=5),
        lambda v: np.sum(v, where=A > 0.5),
        lambda v: np.reshape(v, (4, 3), order="F"),
        lambda v: np.sum(v, out=np.zeros(())),
        lambda v: np.average(v, returned=True),
        lambda v: np.take(v, [0], axis=1, mode="clip"),
        lambda v: np.take(v, [True, False], axis=1),
        lambda v: np.cumprod(v, 0, dtype="d"),
        lambda v: np.linalg.norm(v[None], 1),
        lambda v: np.linalg.norm(v, 1, (0, 1)),
    ],
)
def test_options_that_the_standard_lacks_are_not_overlooked(call):
    with pytest.raises(TypeError):
        call(Variable(A))


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_is_none_is_refused(axis):
    with pytest.raises(IndexError, match=f"expected an axis of 2 axes, got {axis}"):
        np.take(Variable(A), [0], axis=axis)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(np.dot, (np.ones((3, 2)),)), (np.ravel, ()), (np.swapaxes, (0, 1)), (np.copy, ())],
)
def test_functions_that_the_standard_lacks_are_the_methods_of_that_name(function, arguments):
    x = core.Variable(np.arange(6.0).reshape(2, 3))
    y = function(x, *arguments)
    np.testing.assert_array_equal(y.array, function(x.array, *arguments))
    (gradient,) = core.grad([y.sum()], [x])
    assert gradient.shape == x.shape


def test_numpys_operators_do_not_list_all_functions(monkeypatch):
    def listed():
        raise AssertionError("hundreds of names were put in order for one addition")

    monkeypatch.setattr("core.ops.namespace._names", listed)
    x = core.Variable(np.ones(3, "f"))
    assert (np.ones(3) + x).array.tolist() == np.add(x, x).array.tolist() == [2, 2, 2]
