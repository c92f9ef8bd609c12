"""Right where it hurts: extreme values, cancellation, narrow floats, and derivatives at corners.

Warnings are errors in this suite, so each test also says that nothing overflows on the way.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import core
import core.functions as F
from core import Variable

FLOATS = ("float16", "float32", "float64")
INF, NAN = math.inf, math.nan


def slopes(function, x):
    """The derivatives of the sum of a function's outputs."""
    x = Variable(np.asarray(x))
    F.sum(function(x)).backward()
    return x.grad


# -- exponentials and logarithms -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_cross_entropy_of_huge_scores(dtype):
    x = Variable(np.array([[3e4, -3e4, 0], [-3e4, 3e4, 0]], dtype))
    loss = F.softmax_cross_entropy(x, np.array([0, 2]), reduce="no")
    np.testing.assert_array_equal(loss.array, np.array([0, 3e4], dtype))
    F.sum(loss).backward()
    np.testing.assert_array_equal(x.grad, [[0, 0, 0], [0, 1, -1]])


def test_softmax_cross_entropy_of_what_is_nearly_certain():
    loss = F.softmax_cross_entropy(np.array([[30.0, 0.0]]), np.array([0]))
    assert loss.array == pytest.approx(math.log1p(math.exp(-30)), rel=1e-3)
    sure = np.array([[100.0, 0.0]], "float32")
    assert F.softmax_cross_entropy(sure, np.array([0])).array == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_sigmoid_cross_entropy_of_huge_scores(dtype):
    x = Variable(np.array([3e4, -3e4, 3e4, -3e4], dtype))
    loss = F.sigmoid_cross_entropy(x, np.array([1, 0, 0, 1]), reduce="no")
    np.testing.assert_array_equal(loss.array, np.array([0, 0, 3e4, 3e4], dtype))
    F.sum(loss).backward()
    np.testing.assert_array_equal(x.grad, [0, 0, 1, -1])
    for label, expected in ((1, [0, INF]), (0, [INF, 0]), (-1, [0, 0])):
        endless = np.array([INF, -INF], dtype)
        loss = F.sigmoid_cross_entropy(endless, np.array([label] * 2), reduce="no")
        np.testing.assert_array_equal(loss.array, expected)


def test_losses_by_log1p_keep_what_is_far_below_one():
    far = np.array([20.0, 40.0, 80.0])
    tail = np.log1p(np.exp(-far))
    assert tail.all()
    ones = np.ones(3, "i")
    np.testing.assert_allclose(F.softplus(-far).array, tail, rtol=1e-12)
    np.testing.assert_allclose(F.sigmoid_cross_entropy(far, ones, reduce="no").array, tail)
    np.testing.assert_allclose(F.bernoulli_nll(np.ones(3), far, reduce="no").array, tail)


@pytest.mark.parametrize("n", [3, 30000])  # the formula, and a loop
@pytest.mark.parametrize("dtype", FLOATS)
def test_sigmoids_far_below_zero_are_small_and_not_zero(dtype, n):
    """They were 0 from -17 on in float32, and their logarithms -inf."""
    points = [-5, -10.5, -14] if dtype == "float16" else [-9, -30, -80]
    x = Variable(np.resize(np.array(points, dtype), n))
    expected = special.expit(x.array.astype("d"))
    tol = {"rtol": 2e-3, "atol": 1e-7} if dtype == "float16" else {"rtol": 3e-6}
    np.testing.assert_allclose(F.sigmoid(x).array, expected, **tol)
    np.testing.assert_allclose(F.silu(x).array, expected * x.array, **tol)
    for loss in (
        F.softplus,
        lambda x: F.bernoulli_nll(np.zeros_like(x.array), x, reduce="no"),
        lambda x: F.sigmoid_cross_entropy(x, np.zeros(n, "i"), reduce="no"),
    ):
        x.cleargrad()
        F.sum(loss(x) * 1).backward()
        np.testing.assert_allclose(x.grad, expected, **tol)


@pytest.mark.parametrize("dtype", FLOATS)
def test_derivatives_far_below_zero_and_at_the_greatest_numbers(dtype):
    """Those of expm1 were 0 from -17 on in float32, and those of log10 where x log 10 overflows."""
    x = np.array([-7, -9] if dtype == "float16" else [-20, -60], dtype)
    np.testing.assert_allclose(slopes(F.expm1, x), np.exp(x), rtol=1e-3)
    most = np.array([np.finfo(dtype).max / 1.5])
    np.testing.assert_allclose(
        slopes(F.log10, most.astype(dtype)) * most, 1 / np.log(10), rtol=0.03
    )


def test_functions_of_tiny_numbers():
    tiny = np.array([1e-20, -1e-20, 1e-300])
    np.testing.assert_array_equal(F.log1p(tiny).array, tiny)
    np.testing.assert_array_equal(F.expm1(tiny).array, tiny)
    np.testing.assert_array_equal(F.elu(tiny).array, tiny)
    np.testing.assert_array_equal(F.arctanh(tiny[:2]).array, tiny[:2])
    np.testing.assert_allclose(F.log_ndtr(np.array([-40.0])).array, special.log_ndtr(-40.0))
    np.testing.assert_allclose(F.erfcx(np.array([50.0])).array, special.erfcx(50.0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_logsumexp_of_infinities(dtype):
    x = np.array([[-INF, -INF], [-INF, 1], [INF, 1], [INF, INF], [INF, -INF], [NAN, 1]], dtype)
    expected = [-INF, 1, INF, INF, INF, NAN]
    np.testing.assert_array_equal(F.logsumexp(x, axis=1).array, expected)
    for name, reason in core.backend.available().items():
        backend = core.backend.get(name) if reason is None else None
        if backend and dtype in backend.dtypes():
            y = F.logsumexp(backend.asarray(x), axis=1)
            np.testing.assert_array_equal(backend.to_host(y.array), expected)
    np.testing.assert_array_equal(slopes(lambda x: F.logsumexp(x, axis=1), x[:2]), [[0, 0], [0, 1]])


@pytest.mark.parametrize("dtype", FLOATS)
def test_logcumsumexp_of_infinities_and_far_apart(dtype):
    x = np.array([-INF, -INF, -300, -INF, 300, 0], dtype)
    expected = [-INF, -INF, -300, -300, 300, 300]
    np.testing.assert_array_equal(F.logcumsumexp(x).array, expected)
    endless = F.logcumsumexp(np.array([1, INF, 1], dtype)).array
    np.testing.assert_array_equal(endless, [1, INF, INF])
    rows = np.array([x, [0, 1, INF, INF, -INF, 2], [-INF, 3, NAN, 0, -INF, -INF]], dtype)
    sums = [expected, [0, np.log1p(np.e), INF, INF, INF, INF], [-INF, 3, NAN, NAN, NAN, NAN]]
    with np.errstate(invalid="ignore"):
        for n in (1, 400):  # by the formula, and by a loop where there are any
            many, theirs = np.tile(rows, (n, 1)), np.tile(np.array(sums, dtype), (n, 1))
            found = F.logcumsumexp(many, axis=1).array
            np.testing.assert_allclose(found, theirs, 1e-3 if dtype == "float16" else 1e-6)
            np.testing.assert_array_equal(F.logcumsumexp(many.T, axis=0).array, found.T)
    found = slopes(lambda x: F.logcumsumexp(x), x)
    np.testing.assert_allclose(found, [0, 0, 2, 0, 2, 0], atol=1e-30)


def test_gradients_of_logcumsumexp_do_not_add_up_what_rounding_leaves():
    x = np.random.default_rng(0).normal(size=200_000).astype("f")
    shares = np.exp(-np.logaddexp.accumulate(x.astype("d")))
    expected = np.cumsum(shares[::-1])[::-1] * np.exp(x.astype("d"))
    np.testing.assert_allclose(slopes(F.logcumsumexp, x), expected, rtol=1e-5)


@pytest.mark.parametrize("many", [1, 30_000])  # by the formula, and by a loop where there are any
def test_segments_of_nan_of_infinities_and_of_nothing(many):
    x = np.repeat(np.array([[1, INF], [np.nan, 2], [-3, -INF], [5, 1]], "f"), many, axis=0)
    of = np.repeat([0, 0, 2, 3], many)
    nan = np.nan
    most, least = F.segment_max(x, of, 5, empty=-1.0).array, F.segment_min(x, of, 5).array
    np.testing.assert_array_equal(most, [[nan, INF], [-1, -1], [-3, -INF], [5, 1], [-1, -1]])
    np.testing.assert_array_equal(least, [[nan, 2], [0, 0], [-3, -INF], [5, 1], [0, 0]])
    assert F.segment_max(x[:0], of[:0], 2).shape == F.segment_mean(x[:0], of[:0], 2).shape == (2, 2)
    huge = np.array([1000, 0, 1000], "f")
    np.testing.assert_array_equal(F.segment_softmax(huge, np.array([1, 1, 0]), 2).array, [1, 0, 1])


@pytest.mark.parametrize("dtype", FLOATS)
def test_scores_that_are_forbidden(dtype):
    x = np.array([[-INF, 0, 0]], dtype)
    np.testing.assert_array_equal(F.softmax(x).array, [[0, 0.5, 0.5]])
    assert F.log_softmax(x).array[0, 0] == -INF
    np.testing.assert_array_equal(slopes(F.softmax, x), [[0, 0, 0]])
    loss = F.softmax_cross_entropy(x, np.array([1]))
    assert loss.array == pytest.approx(math.log(2), rel=1e-3)


# -- normalization -------------------------------------------------------------------------------

NORMALIZATIONS = {
    "batch": lambda x, eps: F.batch_normalization(x.T, *unit(x, 0), eps=eps).T,
    "layer": lambda x, eps: F.layer_normalization(x, *unit(x, 1), eps=eps),
    "group": lambda x, eps: F.group_normalization(x[:, :, None], 1, *unit(x, 1), eps=eps)[:, :, 0],
}


def unit(x, axis):
    return np.ones(x.shape[axis], x.dtype), np.zeros(x.shape[axis], x.dtype)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_normalization_where_the_variance_is_tiny_beside_the_mean(name):
    exact = 1e4 + np.random.default_rng(0).integers(-4, 5, (2, 64)) / 64
    y = NORMALIZATIONS[name](Variable(exact.astype("f")), 1e-7)
    centred = exact - exact.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt(centred.var(axis=1, keepdims=True) + 1e-7)
    np.testing.assert_allclose(y.array, expected, atol=2e-2)
    assert y.dtype == "float32"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_normalization_of_what_does_not_vary(name, dtype):
    x = Variable(np.full((2, 8), 3, dtype))
    y = NORMALIZATIONS[name](x, 1e-5)
    np.testing.assert_array_equal(y.array, 0)
    F.sum(y * y).backward()
    np.testing.assert_array_equal(x.grad, 0)


def test_normalization_of_half_precision_does_not_overflow():
    x = np.array([[200, -200] * 100] * 2, "float16")  # squares beyond what float16 holds
    for function in NORMALIZATIONS.values():
        y = function(Variable(x), 1e-5)
        np.testing.assert_allclose(y.array, np.sign(x), rtol=1e-3)
        assert y.dtype == "float16"


# -- losses of sequences -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_ctc_of_labels_that_fit_into_no_alignment(dtype):
    xs = [Variable(np.zeros((2, 3), dtype)) for _ in range(2)]
    t = np.array([[1, 1], [1, 2]])  # a repeated label needs a blank, and so a third step
    loss = F.connectionist_temporal_classification(xs, t, 0, reduce="no")
    impossible, possible = loss.array
    assert impossible > 1e3
    assert np.isfinite(impossible)
    assert possible == pytest.approx(math.log(9), rel=1e-3)
    core.backward([F.sum(loss)])
    for x in xs:
        np.testing.assert_array_equal(x.grad[0], 0)
        assert x.grad[1].any()
        assert np.isfinite(x.grad).all()


# -- corners -------------------------------------------------------------------------------------


def test_the_derivative_of_roots_at_zero_is_infinite():
    with np.errstate(divide="ignore"):
        assert slopes(F.sqrt, [0.0]) == INF
        assert F.rsqrt(np.array([0.0])).array == INF


def test_the_derivatives_of_lengths_at_zero_are_zero():
    zeros = np.zeros((2, 3))
    np.testing.assert_array_equal(slopes(F.batch_l2_norm_squared, zeros), zeros)
    np.testing.assert_array_equal(slopes(lambda x: F.triplet(x, x, x, margin=1.0), zeros), zeros)
    for y in ([0, 1], [1, 0]):
        np.testing.assert_array_equal(
            slopes(lambda x, y=y: F.contrastive(x, zeros, np.array(y)), zeros), zeros
        )
    xp = Variable(zeros).__array_namespace__()
    np.testing.assert_array_equal(slopes(lambda x: xp.linalg.vector_norm(x, axis=1), zeros), zeros)
    np.testing.assert_array_equal(slopes(F.absolute, zeros), zeros)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_derivative_of_a_deviation_where_nothing_varies_is_zero(dtype):
    """It was NaN, from the root at 0: of any penalty on a deviation, where units were dead."""
    x = np.array([[3, 3, 3], [0, 1, 2]], dtype)
    for ddof in (0, 1):
        found = slopes(lambda x, n=ddof: x.std(axis=1, ddof=n), x)
        expected = np.array([[0, 0, 0], [-1, 0, 1]]) / np.sqrt((3 - ddof) * 2)
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_normalize_at_zero_divides_by_eps():
    np.testing.assert_allclose(slopes(lambda x: F.normalize(x, eps=0.5), np.zeros((1, 2))), 2)


# -- narrow floats -------------------------------------------------------------------------------

MANY = 4096  # ones: added one by one, float16 ends at 2048
REDUCTIONS = {
    "sum": lambda x: F.sum(x),
    "sum over an axis": lambda x: F.sum(x.reshape((2, -1)), axis=1)[0] * 2,
    "mean": lambda x: F.mean(x) * MANY,
    "average with weights": lambda x: F.average(x, weights=x) * MANY,
    "cumsum": lambda x: F.cumsum(x)[-1],
    "batch_l2_norm_squared": lambda x: F.batch_l2_norm_squared(x.reshape((1, -1)))[0],
    "matmul": lambda x: F.matmul(x, x),
    "linear": lambda x: F.linear(x.reshape((1, -1)), x.reshape((1, -1)))[0, 0],
    "tensordot": lambda x: F.tensordot(x, x, 1),
    "einsum": lambda x: F.einsum("i,i->", x, x),
    "convolution": lambda x: F.convolution_1d(x[None, None], x[None, None])[0, 0, 0],
    "average_pooling": lambda x: F.average_pooling_1d(x[None, None], MANY)[0, 0, 0] * MANY,
    "mean_squared_error": lambda x: F.mean_squared_error(x, 0 * x) * MANY,
    "mean_absolute_error": lambda x: F.mean_absolute_error(x, 0 * x) * MANY,
    "huber_loss": lambda x: F.huber_loss(x[None], 0 * x[None], 1.0)[0] * 2,
    "broadcast_to, backward": lambda x: gradient(lambda one: F.broadcast_to(one, x.shape), x),
    "embed_id, backward": lambda x: gradient(
        lambda one: F.embed_id(np.zeros(MANY, "i"), one.reshape((1, 1))), x
    ),
    "scatter_add": lambda x: F.scatter_add(0 * x[:1], np.zeros(MANY, "i"), x)[0],
    "get_item, backward": lambda x: gradient(lambda one: one[np.zeros(MANY, "i")], x),
}


def gradient(function, like):
    """What ones flow back to a lone element."""
    one = Variable(np.ones(1, like.dtype))
    F.sum(function(one) * 1).backward()
    return one.grad_var[0]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_half_precision_is_added_up_in_single(name):
    y = REDUCTIONS[name](Variable(np.ones(MANY, "float16")))
    assert y.dtype == "float16"
    assert y.array == MANY


@pytest.mark.parametrize("axis", [0, 1])
def test_running_sums_of_single_precision_do_not_drift(axis):
    """Each had the rounding of all before it: a hundred thousand of 0.7 were 1e-4 off."""
    x = Variable(np.full((100_000, 2)[:: 1 - 2 * axis], 0.7, "f"))
    y = F.cumsum(x, axis)
    gx = np.flip(slopes(lambda x: F.cumsum(x, axis) * x.array, x.array), axis)
    exact = np.cumsum(x.array, axis, dtype="d")
    np.testing.assert_allclose(y.array, exact, rtol=1e-7)
    np.testing.assert_allclose(gx, exact, rtol=1e-7)


def test_the_deviation_of_what_has_squares_beyond_float16():
    x = Variable(np.array([500] + [0] * 399, "float16"))
    y = x.std()
    assert y.dtype == x.var().dtype == "float16"
    np.testing.assert_allclose([y.array, x.var().array], [24.97, 623.4], rtol=1e-3)
    y.backward()
    np.testing.assert_allclose(x.grad[:2], [0.04994, -0.0001251], rtol=1e-2)


def test_means_of_half_precision_do_not_overflow():
    x = np.full(4096, 100, "float16")  # their sum is beyond what float16 holds
    assert F.mean(x).array == 100
    assert F.average(x).array == 100
    assert F.mean_squared_error(x, 0 * x).array == 1e4
    x = Variable(np.array([300, 300], "float16"))
    assert x.__array_namespace__().vecdot(x, np.array([300, -299], "float16")).array == 300
    np.testing.assert_allclose(F.softmax(np.full((1, 4096), 9, "float16")).array, 1 / 4096)


@pytest.mark.parametrize("n", [191, 30_000])  # the formula, and a loop
@pytest.mark.parametrize(
    "name", ["arccos", "arcsin", "arctanh", "elu", "erf", "gelu", "rsqrt", "silu", "softplus"]
)
def test_formulas_of_half_precision_are_computed_in_single(name, n):
    """Gelu was 60 % off at -4, and silu, softplus and gelu take a seventh of the time."""
    inside = {"arccos": 0.999, "arcsin": 0.999, "arctanh": 0.999}.get(name, 9.0)
    points = np.linspace(5e-4 if name == "rsqrt" else -inside, inside, n).astype("float16")
    found = []
    for dtype in ("float16", "float32"):
        x = Variable(points.astype(dtype))
        y = getattr(F, name)(x)
        (gx,) = core.grad([y], [x], [Variable(np.ones_like(y.array))])
        found.append((y.array, gx.array))
    for half, single in zip(*found, strict=True):
        np.testing.assert_allclose(half, single.astype("float16"), rtol=2e-3, atol=2e-7)


@pytest.mark.parametrize("n", [8, 80_000])
def test_derivatives_near_the_ends_of_arcs_keep_their_digits(n):
    """The square was rounded before it was taken from 1: in float32 they were 1e-4 off."""
    x = np.resize(1 - np.float32(2.0) ** -np.arange(1, 24), n).astype("f")
    exact = (1 - x.astype("d")) * (1 + x.astype("d"))
    np.testing.assert_allclose(slopes(F.arcsin, x), exact**-0.5, rtol=1e-6)
    np.testing.assert_allclose(slopes(F.arccos, -x), -(exact**-0.5), rtol=1e-6)
    np.testing.assert_allclose(slopes(F.arctanh, x), 1 / exact, rtol=1e-6)


@pytest.mark.parametrize("n", [4, 80_000])
def test_derivatives_of_angles_of_points_near_and_far(n):
    """They were NaN at (0, 0), infinite or 0 where squares of coordinates leave the dtype."""
    y, x = (np.resize(np.array(a, "f"), n) for a in ([0, 3e-30, 3e30, 3], [0, -4e-30, 4e30, 4]))
    gy, gx = core.grad([F.sum(F.arctan2(vy := Variable(y), vx := Variable(x)))], [vy, vx])
    np.testing.assert_allclose(gy.array[:4], [0, -4 / 25e-30, 4 / 25e30, 4 / 25], rtol=1e-6)
    np.testing.assert_allclose(gx.array[:4], [0, -3 / 25e-30, -3 / 25e30, -3 / 25], rtol=1e-6)


BEYOND_HALF = {
    "arctan": lambda x: 1e4 * F.arctan(x),
    "arctan2, above": lambda x: 100 * F.arctan2(x, 500 + 0 * x),
    "arctan2, below": lambda x: 100 * F.arctan2(500 + 0 * x, x),
    "arcsinh": F.arcsinh,
    "arccosh": F.arccosh,
    "a number divided": lambda x: 1000 / x,
    "average": lambda x: F.average(x, weights=np.arange(1, 401).astype(x.dtype)),
}


@given(st.integers(300, 900), st.integers(300, 900))
@settings(max_examples=10)
@pytest.mark.parametrize("name", BEYOND_HALF)
def test_what_half_precision_does_not_hold_on_the_way(name, first, last):
    """Squares and sums of these are beyond it, values and gradients are not."""
    found = []
    for dtype in ("float16", "float64"):
        x = Variable(np.linspace(first, last, 400).round().astype(dtype))
        y = BEYOND_HALF[name](x)
        (gx,) = core.grad([y], [x])
        found.append((y.array, gx.array))
    for half, double in zip(*found, strict=True):
        np.testing.assert_allclose(half, double, rtol=5e-3, atol=1e-4)


def test_powers_of_zero_do_not_change():
    for base in (0.0, np.zeros(2)):
        x = core.Variable(np.array([2.0, 0.5]))
        y = base**x
        F.sum(y).backward()
        np.testing.assert_array_equal(y.array, [0, 0])
        np.testing.assert_array_equal(x.grad, [0, 0])


def test_gradients_of_gaussian_nll_of_a_tiny_variance():
    """The inverse of the variance is beyond float32, that of the deviation is not."""
    x, mean = (Variable(np.array([a, 1], "f")) for a in (1 + 2**-20, 1))
    F.gaussian_nll(x, mean, np.array([-100, -100], "f")).backward()
    np.testing.assert_allclose(x.grad, [2**-20 * math.exp(100), 0], rtol=1e-5)
    np.testing.assert_array_equal(mean.grad, -x.grad)


@pytest.mark.parametrize("away", [1e3, 1e5, 1e25])
def test_triplets_of_a_far_anchor(away):
    """Its squared distances are of one size, and may be beyond float32; their difference is not."""
    a, p, n = (Variable(np.array([[x, -x]], "f")) for x in (away, 1, 1.25))
    F.triplet(a, n, p).backward()
    for one in (a, p, n):
        np.testing.assert_array_equal(one.grad, 0)
    loss = F.triplet(a, p, n)
    loss.backward()
    np.testing.assert_allclose(loss.array, 2 * 0.25 * (2 * away - 2.25) + 0.2, rtol=1e-6)
    np.testing.assert_array_equal(a.grad, [[0.5, -0.5]])
