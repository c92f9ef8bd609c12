"""What normalizations promise beyond their formulas."""

import numpy as np
import pytest
from scipy import linalg

import core
import core.functions as F
import core.links as L
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward


def test_layer_normalization_takes_the_last_axes_by_default():
    x = np.arange(24.0).reshape(2, 3, 4) ** 1.5
    y = F.layer_normalization(x, np.ones((3, 4)), np.zeros((3, 4))).array
    for example, normalized in zip(x, y, strict=True):
        expected = (example - example.mean()) / np.sqrt(example.var() + 1e-5)
        np.testing.assert_allclose(normalized, expected, rtol=1e-12)


def test_layer_normalization_keeps_its_precision_when_the_variance_is_tiny():
    x = (1000 + np.array([[-1, 1, -1, 1]]) * 2**-9).astype("f")
    y = F.layer_normalization(x, np.ones(4, "f"), np.zeros(4, "f"), eps=1e-12)
    np.testing.assert_allclose(y.array, [[-1, 1, -1, 1]], rtol=1e-5)


@pytest.mark.parametrize("axis", [1, -1, (1,)])
def test_layer_normalization_counts_axes_from_either_end(axis):
    x = np.random.default_rng(0).normal(size=(3, 5))
    y = F.layer_normalization(x, np.ones(5), np.zeros(5), axis=axis)
    np.testing.assert_array_equal(y.array, F.layer_normalization(x, np.ones(5), np.zeros(5)).array)


def test_group_normalization_in_half_precision_does_not_overflow():
    x = np.array([[300, -300, 200, -200]], "float16")
    y = F.group_normalization(x, 2, np.ones(4, "float16"), np.zeros(4, "float16"))
    np.testing.assert_array_equal(y.array, [[1, -1, 1, -1]])


def test_group_normalization_says_which_channels_do_not_fit():
    one, zero = np.ones(3, "f"), np.zeros(3, "f")
    with pytest.raises(core.type_check.InvalidType, match=r"x\.shape\[1\] % "):
        F.group_normalization(np.ones((2, 3), "f"), 2, one, zero)
    with pytest.raises(ValueError, match="at least 1 group"):
        F.group_normalization(np.ones((2, 3), "f"), 0, one, zero)


def test_normalize_of_zeros_is_zeros_with_the_gradient_of_division_by_eps():
    x = core.Variable(np.zeros((1, 3)))
    y = F.normalize(x, eps=0.25)
    np.testing.assert_array_equal(y.array, np.zeros((1, 3)))
    (g,) = core.grad([F.sum(y)], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(g.array, np.full((1, 3), 4.0))
    (gg,) = core.grad([F.sum(g * g)], [x])
    np.testing.assert_array_equal(gg.array, np.zeros((1, 3)))


def test_normalize_of_what_is_no_number_is_none():
    x = core.Variable(np.array([[np.nan, 2.0], [3.0, 4.0]]))
    y = F.normalize(x)
    np.testing.assert_array_equal(np.isnan(y.array), [[True, True], [False, False]])
    F.sum(y).backward()
    np.testing.assert_array_equal(np.isnan(x.grad), np.isnan(y.array))


def test_normalize_over_several_axes_takes_them_as_one_vector():
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    y = F.normalize(x, eps=0.0, axis=(1, 2)).array
    np.testing.assert_allclose(np.linalg.norm(y.reshape(2, -1), axis=1), 1, rtol=1e-12)


def test_local_response_normalization_by_its_defaults():
    x = np.random.default_rng(2).normal(size=(2, 7, 3, 3)) * 50
    y = F.local_response_normalization(x).array
    near = sum(x[:, i] ** 2 for i in range(1, 6))
    np.testing.assert_allclose(y[:, 3], x[:, 3] / (2 + 1e-4 * near) ** 0.75, rtol=1e-12)


def renormalized(x, gamma, beta, rmax, dmax, m, v, eps=2e-5):
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        values = x[:, c]
        deviation = np.sqrt(values.var() + eps)
        r = min(max(deviation / np.sqrt(v[c] + eps), 1 / rmax), rmax)
        d = min(max((values.mean() - m[c]) / np.sqrt(v[c] + eps), -dmax), dmax)
        y[:, c] = gamma[c] * ((values - values.mean()) / deviation * r + d) + beta[c]
    return y


@pytest.mark.parametrize(("rmax", "dmax"), [(1, 0), (1.2, 0.1), (1e3, 1e3)])
def test_batch_renormalization_against_loops(rmax, dmax):
    draw = np.random.default_rng(3).normal
    x, gamma, beta = draw(2, 3, size=(6, 3, 2)), draw(size=3), draw(size=3)
    m, v = draw(size=3), np.array([0.5, 4.0, 20.0])
    kept = m.copy(), v.copy()
    y = F.batch_renormalization(x, gamma, beta, rmax, dmax, running_mean=m, running_var=v)
    np.testing.assert_allclose(y.array, renormalized(x, gamma, beta, rmax, dmax, m, v), rtol=1e-10)
    np.testing.assert_array_equal((m, v), kept)
    if rmax == 1:
        plain = F.batch_normalization(x, gamma, beta)
        np.testing.assert_allclose(y.array, plain.array, rtol=1e-10)
    if rmax == 1e3:
        fixed = F.fixed_batch_renormalization(x, gamma, beta, m, v)
        np.testing.assert_allclose(y.array, fixed.array, rtol=1e-10)


def test_batch_renormalization_takes_corrections_for_constants():
    draw = np.random.default_rng(4).normal
    x, gamma, beta, m, v = draw(size=(5, 2)), draw(size=2), draw(size=2), draw(size=2), np.ones(2)
    xs = [core.Variable(a) for a in (x, gamma, beta)]
    y = F.batch_renormalization(*xs, 10.0, 5.0, running_mean=m, running_var=v)
    r = np.sqrt(x.var(axis=0) + 2e-5) / np.sqrt(v + 2e-5)
    d = (x.mean(axis=0) - m) / np.sqrt(v + 2e-5)
    zs = [core.Variable(a) for a in (x, gamma, beta)]
    z = F.batch_normalization(zs[0], np.ones(2), np.zeros(2))
    expected = (z * r + d) * zs[1] + zs[2]
    seed = core.Variable(draw(size=(5, 2)))
    for g, e in zip(core.grad([y], xs, [seed]), core.grad([expected], zs, [seed]), strict=True):
        np.testing.assert_allclose(g.array, e.array, atol=1e-10)


def test_batch_renormalization_moves_statistics_when_asked():
    x = np.random.default_rng(5).normal(size=(5, 2))
    m, v = np.zeros(2), np.ones(2)
    one, zero = np.ones(2), np.zeros(2)
    F.batch_renormalization(x, one, zero, 1, 0, 2e-5, m, v, 0.5, update_statistics=True)
    np.testing.assert_allclose(m, x.mean(axis=0) / 2)
    np.testing.assert_allclose(v, 0.5 + x.var(axis=0, ddof=1) / 2)
    with pytest.raises(ValueError, match="rmax of at least 1"):
        F.batch_renormalization(x, one, zero, 0.5, 0)


def test_parameters_of_several_axes_are_channels_of_several_axes():
    x = np.random.default_rng(6).normal(size=(4, 2, 3, 5))
    gamma, beta = np.full((2, 3), 2.0), np.ones((2, 3))
    y = F.batch_normalization(x, gamma, beta).array
    mean, var = x.mean(axis=(0, 3), keepdims=True), x.var(axis=(0, 3), keepdims=True)
    np.testing.assert_allclose(y, (x - mean) / np.sqrt(var + 2e-5) * 2 + 1, rtol=1e-10)
    fixed = F.fixed_batch_normalization(x, gamma, beta, mean[0, :, :, 0], var[0, :, :, 0])
    np.testing.assert_allclose(fixed.array, y, rtol=1e-10)


def test_batch_renormalization_without_statistics_takes_the_standard_ones():
    x = core.Variable(np.random.default_rng(7).normal(size=(5, 2)))
    one, zero = np.ones(2), np.zeros(2)
    seed = core.Variable(np.arange(10.0).reshape(5, 2))
    y = F.batch_renormalization(x, one, zero, 2, 1, update_statistics=True)
    z = F.batch_renormalization(x, one, zero, 2, 1, running_mean=zero, running_var=one)
    np.testing.assert_array_equal(y.array, z.array)
    (g,), (e,) = core.grad([y], [x], [seed]), core.grad([z], [x], [seed])
    np.testing.assert_array_equal(g.array, e.array)


def whitened(x, eps):
    """One group, the channels last."""
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / len(x) + eps * np.eye(x.shape[1])
    root = linalg.sqrtm(covariance)
    return linalg.solve(root, centred.T).T


def test_decorrelated_batch_normalization_whitens_groups():
    x = np.random.default_rng(8).normal(2, 3, size=(6, 4, 3))
    x[:, 1] += x[:, 0]
    y = F.decorrelated_batch_normalization(x, groups=2, eps=1e-3).array
    for group in (slice(0, 2), slice(2, 4)):
        rows, out = (np.moveaxis(a[:, group], 1, 2).reshape(-1, 2) for a in (x, y))
        np.testing.assert_allclose(out, whitened(rows, 1e-3), atol=1e-10)


@pytest.mark.parametrize("equal", [False, True])
def test_decorrelated_batch_normalization_has_derivatives_also_at_equal_eigenvalues(equal):
    x = np.array([[3.0, 1], [1, 3], [-3, -1], [-1, -3], [2, -2], [-2, 2]])
    if equal:
        x = np.array([[2.0, 0], [0, 2], [-2, 0], [0, -2]])
    g, gg = np.random.default_rng(9).normal(size=(2, *x.shape))

    def function(x):
        return F.decorrelated_batch_normalization(x, groups=1, eps=0.1)

    check_backward(function, x, g, atol=1e-6)
    check_double_backward(function, x, g, gg, atol=1e-5)


def test_decorrelated_batch_normalization_moves_statistics_that_the_fixed_form_takes():
    x = np.random.default_rng(10).normal(1, 2, size=(50, 4))
    mean, projection = np.zeros((2, 2)), np.zeros((2, 2, 2))
    settings = {"running_mean": mean, "running_projection": projection, "decay": 0.0}
    y = F.decorrelated_batch_normalization(x, groups=2, **settings).array
    np.testing.assert_allclose(mean.ravel(), x.mean(axis=0))
    fixed = F.fixed_decorrelated_batch_normalization(x, mean, projection * 49 / 50, groups=2)
    np.testing.assert_allclose(fixed.array, y, atol=1e-12)
    with pytest.raises(core.type_check.InvalidType, match="groups"):
        F.decorrelated_batch_normalization(x, groups=3)
    with pytest.raises(ValueError, match="eps above 0"):
        F.decorrelated_batch_normalization(x, groups=2, eps=0)


@pytest.mark.parametrize("decay", [-0.1, 1.5, float("nan")])
@pytest.mark.parametrize(
    "link", [L.BatchNormalization, L.BatchRenormalization, L.DecorrelatedBatchNormalization]
)
def test_a_decay_without_meaning_is_refused_before_a_statistic_moves(link, decay):
    layer = link(16)
    layer.decay = decay
    names = [name for name in layer.__dict__ if name.startswith(("avg_", "running_"))]
    before = {name: getattr(layer, name).copy() for name in names}
    with pytest.raises(ValueError, match=r"expected a decay in \[0, 1\]"):
        layer(np.random.RandomState(0).rand(5, 16, 3).astype("f"))
    assert before and all((getattr(layer, name) == before[name]).all() for name in names)


@pytest.mark.parametrize("fixed", [0, 1])
def test_statistics_that_cannot_be_changed_are_refused_before_any_moves(fixed):
    x, one = np.arange(8.0).reshape(4, 2), np.ones(2)
    statistics = [np.zeros(2), np.ones(2)]
    statistics[fixed].flags.writeable = False
    with pytest.raises(ValueError, match=r"read-only, of shape \(2,\). Give a copy"):
        F.batch_normalization(x, one, one, running_mean=statistics[0], running_var=statistics[1])
    np.testing.assert_array_equal(statistics, [np.zeros(2), np.ones(2)])


def _batch_normalized(x, **running):
    one = np.ones(x.shape[1], x.dtype)
    return F.batch_normalization(x, one, 0 * one, **running)


def _batch_renormalized(x):
    one = np.ones(x.shape[1], x.dtype)
    return F.batch_renormalization(x, one, 0 * one, 1.5, 0.5)


def _embedded(x):
    labels = np.ones((len(x), *x.shape[2:]), "i")
    return F.discriminative_margin_based_clustering_loss(x, labels, 0.5, 1.5, x.shape[1])[0]


@pytest.mark.parametrize(
    ("function", "spread"),
    [
        (_batch_normalized, 400),
        (_batch_renormalized, 400),
        (lambda x: F.decorrelated_batch_normalization(x, groups=1), 1.5),
        (_embedded, 1.0),
    ],
)
def test_statistics_beyond_what_float16_holds(function, spread):
    random = np.random.default_rng(0)
    values = (spread * random.normal(1, 1, size=(2, 2, 256, 256))).astype("float16")
    found = {}
    for dtype in ("float16", "float64"):
        x = core.Variable(values.astype(dtype))
        y = function(x)
        assert y.dtype == dtype
        y.grad = np.cos(np.arange(y.size)).reshape(y.shape).astype(dtype)
        y.backward()
        found[dtype] = y.array, x.grad
    for half, exact in zip(found["float16"], found["float64"], strict=True):
        np.testing.assert_allclose(half, exact, rtol=0.02, atol=2e-3 * np.abs(exact).max() + 6e-8)


@pytest.mark.parametrize("shape", [(2,), (1,), (5, 3), ()])
@pytest.mark.parametrize("place", [0, 1])
def test_running_statistics_of_another_shape_move_neither(shape, place):
    x, given = np.random.default_rng(0).normal(size=(8, 3)) + 5, [np.zeros(3), np.ones(3)]
    given[place] = np.full(shape, 7.0)
    kept = [array.copy() for array in given]
    with pytest.raises(InvalidType, match=r"running statistic of shape \(3,\)"):
        _batch_normalized(x, running_mean=given[0], running_var=given[1])
    for array, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("place", ["running_mean", "running_var"])
@pytest.mark.parametrize("update", [False, True])
def test_renormalization_takes_running_statistics_of_the_parameters_shape_alone(place, update):
    x, one = np.arange(6, dtype="f").reshape(2, 3), np.ones(3, "f")
    given = {place: np.ones(1, "f"), "update_statistics": update}
    with pytest.raises(InvalidType, match=r"running statistic of shape \(3,\)"):
        F.batch_renormalization(x, one, one, 2, 1, **given)


@pytest.mark.parametrize("place", ["running_mean", "running_var"])
@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_running_statistics_without_fractions_are_refused_and_kept(place, dtype):
    x, one, kept = np.arange(6, dtype="f").reshape(2, 3), np.ones(3, "f"), np.ones(3, dtype)
    both = {"running_mean": one.copy(), "running_var": one.copy(), place: kept}
    for normalize in (
        lambda: F.batch_normalization(x, one, one, **both),
        lambda: F.batch_renormalization(x, one, one, 2, 1, update_statistics=True, **both),
    ):
        with pytest.raises(InvalidType, match=f"floating dtype\nActual: {dtype}"):
            normalize()
    assert all((array == 1).all() for array in both.values())


def test_running_variance_of_float16_inputs_may_be_kept_in_more():
    x = np.array([[-400, 4], [400, -4]], "float16")
    mean, var = np.zeros(2), np.zeros(2)
    _batch_normalized(x, running_mean=mean, running_var=var, decay=0.0)
    np.testing.assert_array_equal(var, [320000, 32])


@pytest.mark.parametrize("axis", [2, -3, (0, 2), (0, 0), (1, -1)])
def test_axes_that_x_has_not_are_refused(axis):
    x, one = np.ones((2, 2), "f"), np.ones(2, "f")
    for function, statistics in (
        (F.batch_normalization, ()),
        (F.fixed_batch_normalization, (one, one)),
        (F.layer_normalization, ()),
    ):
        with pytest.raises(core.type_check.InvalidType, match=f"{function.__name__}.*\n.*\n.*axes"):
            function(x, one, one, *statistics, axis=axis)
