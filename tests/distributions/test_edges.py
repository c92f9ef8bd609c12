"""Densities and cumulative functions at NaN, at infinity, at edges and outside, against SciPy's."""

import inspect

import numpy as np
import pytest
import scipy.stats as S

import core
import core.distributions as D
import core.functions as F
from core import Variable
from plugins.distributions import gamma_draws
from plugins.distributions.ends import ENDS

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def fixed_draws():
    core.seed(0)
    yield
    core.seed(None)


def bernoulli(p):
    return D.Bernoulli(p, binary_check=True)


def bernoulli_of_logit(logit):
    return D.Bernoulli(logit=logit, binary_check=True)


CASES = [
    (bernoulli, S.bernoulli, [(0.3,), (0.0,), (1.0,)], [-1, 0, 0.5, 1, 2]),
    (
        bernoulli_of_logit,
        lambda logit: S.bernoulli(1 / (1 + np.exp(-logit))),
        [(0.3,), (-20.0,)],
        [-1, 0, 0.5, 1, 2],
    ),
    (D.Beta, S.beta, [(2, 3), (0.5, 0.5), (1, 1), (1, 3), (2, 1)], [-1, 0, 0.5, 1, 2]),
    (D.Binomial, S.binom, [(5, 0.3), (1, 0.9), (40, 0.5), (3, 0), (3, 1)], [-1, 0, 0.5, 1, 3, 5]),
    (D.Cauchy, S.cauchy, [(1, 2)], [-3, 1, 4, 1e5]),
    (D.Chisquare, S.chi2, [(1,), (2,), (5,)], [-1, 0, 0.5, 4]),
    (D.Exponential, lambda lam: S.expon(scale=1 / lam), [(2,)], [-1, 0, 0.5, 4]),
    (
        D.Gamma,
        lambda k, theta: S.gamma(k, scale=theta),
        [(1, 2), (0.5, 1), (3, 0.5)],
        [-1, 0, 0.5, 4],
    ),
    (D.Geometric, S.geom, [(0.3,), (1,)], [-1, 0, 0.5, 1, 1.5, 2, 4]),
    (D.Gumbel, S.gumbel_r, [(0, 1), (1, 2)], [-4, -1, 0, 3, 30]),
    (D.HalfCauchy, lambda scale: S.halfcauchy(scale=scale), [(2,)], [-1, 0, 1e-5, 0.5, 1e5]),
    (D.HalfNormal, lambda scale: S.halfnorm(scale=scale), [(1,), (3,)], [-1, 0, 1e-5, 0.5, 12]),
    (D.Laplace, S.laplace, [(0, 1), (1, 2)], [-100, -1, 0, 1, 30]),
    (D.Logistic, S.logistic, [(0, 1), (1, 2)], [-100, -1, 0, 1, 60]),
    (
        D.LogNormal,
        lambda mu, sigma: S.lognorm(sigma, scale=np.exp(mu)),
        [(0, 1), (1, 0.5)],
        [-1, 0, 0.5, 1, 3],
    ),
    (D.NegativeBinomial, S.nbinom, [(5, 0.3), (0.5, 0.9), (2, 1)], [-1, 0, 0.5, 1, 3, 30]),
    (D.Normal, S.norm, [(0, 1), (1, 2)], [-12, -1, 0, 1, 12]),
    (
        D.Pareto,
        lambda scale, alpha: S.pareto(alpha, scale=scale),
        [(1, 2), (2, 1)],
        [-1, 0, 0.5, 1, 3],
    ),
    (D.Poisson, S.poisson, [(0.5,), (20,), (0,)], [-1, 0, 0.5, 1, 12]),
    (D.StudentT, S.t, [(1, 0, 1), (0.3, 1, 2), (7, 0, 1)], [-100, -1, 0, 1, 1.0001, 30]),
    (
        D.Weibull,
        lambda scale, k: S.weibull_min(k, scale=scale),
        [(1, 1), (2, 0.5), (2, 3)],
        [-1, 0, 0.01, 2, 5],
    ),
    (lambda low, high: D.Uniform(low=low, high=high), lambda a, b: S.uniform(a, b - a),
     [(0, 1), (2, 4)], [-1, 0, 0.5, 1, 2, 3, 4, 5]),
]  # fmt: skip
FUNCTIONS = {
    "cdf": "cdf",
    "survival_function": "sf",
    "log_cdf": "logcdf",
    "log_survival_function": "logsf",
}


def log_density(frozen, x):
    """SciPy's, which is NaN for NaN, and -inf at infinity."""
    found = (frozen.logpdf if hasattr(frozen.dist, "pdf") else frozen.logpmf)(x)
    return np.where(np.isnan(x), NAN, np.where(np.isinf(x), -INF, found))


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize(("make", "reference", "parameters", "points"), CASES)
def test_every_point_is_answered(make, reference, parameters, points, dtype):
    x = np.array([NAN, -INF, INF, *points], dtype)
    p = np.array([NAN, -0.5, 0, 1e-7, 0.3, 0.5, 0.9, 1, 1.5], dtype)
    for each in parameters:
        theirs = reference(*[float(np.array(value, dtype)) for value in each])
        with np.errstate(all="ignore"):
            ours = make(*[np.array(value, dtype) for value in each])
            expected = {name: getattr(theirs, n)(x.astype("d")) for name, n in FUNCTIONS.items()}
            found = {name: getattr(ours, name)(x) for name in FUNCTIONS}
            expected["log_prob"] = log_density(theirs, x.astype("d"))
            found["log_prob"] = ours.log_prob(x)
            if type(ours).icdf is not D.Distribution.icdf:
                expected["icdf"], found["icdf"] = theirs.ppf(p.astype("d")), ours.icdf(p)
        for name, y in found.items():
            assert y.dtype == x.dtype
            rtol = 2e-5 if dtype == "f" else 1e-7
            said = f"{name} of {each}"
            np.testing.assert_allclose(y.array, expected[name], rtol, 1e-14, err_msg=said)


@pytest.mark.parametrize(("make", "reference", "parameters", "points"), CASES)
def test_parameters_and_points_are_broadcast(make, reference, parameters, points):
    """A column of one parameter beside rows of the others, and points with axes in front."""
    first = [np.full((2, 1), parameters[0][0], "f"), *parameters[0][1:]]
    if len(first) > 1:
        first[1] = np.full(3, first[1], "f")
    ours = make(*first)
    batch = (2, 3) if len(first) > 1 else (2, 1)
    assert ours.batch_shape == batch
    with np.errstate(all="ignore"):
        single = make(*[np.array(value, "f") for value in parameters[0]])
        for shape in [(), (5, 1, 3)]:
            x = np.full(shape, points[2], "f")
            for name in (*FUNCTIONS, "log_prob"):
                found, one = getattr(ours, name)(x), getattr(single, name)(np.array(points[2], "f"))
                assert found.shape == np.broadcast_shapes(shape, batch)
                expected = np.full(found.shape, one.array)
                np.testing.assert_allclose(found.array, expected, 1e-6)  # loops of many elements
    assert ours.sample(4).shape == (4, *batch)


def test_gradients_at_edges_are_finite():
    """Of parameters and points, where the density is, and where it falls to 0."""
    for ours, x in [
        (D.Gamma(*_parameters(3, 2)), 0.0),
        (D.Weibull(*_parameters(2, 3)), 0.0),
        (D.Beta(*_parameters(2, 1)), 0.0),
        (D.Beta(*_parameters(1, 2)), 1.0),
        (D.Dirichlet(Variable(np.array([2, 1, 3], "f"))), [0.0, 0.25, 0.75]),
        (D.Dirichlet(Variable(np.array([2, 1, 3], "f"))), [0.5, 0.5, INF]),
        (D.Gamma(*_parameters(1, 2)), 0.0),
        (D.Beta(*_parameters(1, 3)), 0.0),
        (D.Beta(*_parameters(2, 1)), 1.0),
        (D.Cauchy(*_parameters(0, 1)), 1e30),
        (D.Geometric(*_parameters(1)), 1.0),
        (D.Poisson(*_parameters(0)), 0.0),
    ]:
        for name in ("log_prob", "prob"):
            point = _parameters(x)[0]
            with np.errstate(all="ignore"):
                y = getattr(ours, name)(point)
                found = core.grad([y], [point, *ours.params.values()])
            for g in found:
                assert g is None or np.isfinite(g.array).all()


@pytest.mark.parametrize(("make", "reference", "parameters", "points"), CASES)
def test_no_finite_point_has_a_slope_that_is_nan(make, reference, parameters, points):
    """One would make those of all parameters NaN."""
    for each in parameters:
        for name in (*FUNCTIONS, "log_prob", "prob"):
            given = _parameters(*each, [*points, 1e-30, -1e10, 1e10])
            with np.errstate(all="ignore"):
                y = getattr(make(*given[:-1]), name)(given[-1])
                if name == "prob":  # all but poles
                    given[-1] = Variable(given[-1].array[y.array < INF])
                    y = make(*given[:-1]).prob(given[-1])
                F.sum(y).backward()
            for variable in given:
                assert variable.grad is None or not np.isnan(variable.grad).any(), (each, name)


@pytest.mark.parametrize(("make", "reference", "parameters", "points"), CASES)
def test_no_infinite_point_of_what_is_cumulated_has_a_slope(make, reference, parameters, points):
    for each in parameters:
        for name, ends in ENDS.items():
            *given, x = _parameters(*each, [-INF, INF])
            y = getattr(make(*given), name)(x)
            F.sum(F.where(np.isfinite(y.array), y, 0.0)).backward()
            np.testing.assert_array_equal(y.array, np.broadcast_to(ends, y.shape))
            for variable in (*given, x):
                assert variable.grad is None or not variable.grad.any(), (each, name)


@pytest.mark.parametrize(("make", "reference", "parameters", "points"), CASES)
def test_no_infinite_point_of_a_density_has_a_slope(make, reference, parameters, points):
    """They were infinite, and of `prob` NaN."""
    for each in parameters:
        for name, value in (("log_prob", -INF), ("prob", 0.0)):
            *given, x = _parameters(*each, [-INF, INF])
            with np.errstate(all="ignore"):
                y = getattr(make(*given), name)(x)
                F.sum(y).backward()
            np.testing.assert_array_equal(y.array, value)
            for variable in (*given, x):
                assert variable.grad is None or not variable.grad.any(), (each, name)


@pytest.mark.parametrize("make", [D.Normal, D.Laplace, D.Logistic, D.Cauchy, D.Gumbel])
@pytest.mark.parametrize("loc", [-1000.0, 1000.0, 1e30])
def test_no_infinite_point_has_a_slope_where_0_is_far_from_the_others(make, loc):
    """What is computed in its place at 0 overflowed, and made those of parameters NaN."""
    *given, x = _parameters(loc, 1e-9, [-INF, INF])
    y = make(*given).log_prob(x)
    F.sum(y).backward()
    np.testing.assert_array_equal(y.array, -INF)
    for variable in (*given, x):
        assert not variable.grad.any()


@pytest.mark.parametrize("make", [D.Normal, D.Laplace, D.Logistic, D.Cauchy, D.Gumbel])
def test_points_of_another_dtype_are_refused_with_the_cure(make):
    with pytest.raises(core.errors.InvalidType, match="astype.'float32'"):
        make(np.zeros(2, "f"), 1.0).log_prob(np.zeros(2))


def test_parameters_that_are_nan_are_told_at_infinite_points_as_well():
    assert np.isnan(
        D.Normal(0.0, np.float32("nan")).cdf(np.array([INF, -INF, 0.0], "f")).array
    ).all()


@pytest.mark.parametrize(
    ("make", "p", "x", "slopes"),
    [
        (D.Bernoulli, [0.0, 1.0, 0.5], [0.0, 1.0, 1.0], [-1.0, 1.0, 2.0]),
        (D.Categorical, [1.0, 0.0, 0.0], 0, [1.0, 0.0, 0.0]),
        (D.OneHotCategorical, [0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
        (D.Geometric, [1.0, 0.5], [1.0, 2.0], [1.0, 0.0]),
        (D.Poisson, [0.0, 2.0], [0.0, 4.0], [-1.0, 1.0]),
    ],
)
def test_gradients_of_probabilities_at_edges(make, p, x, slopes):
    """Those of a logarithm that does not count were 0 / 0."""
    given = Variable(np.array(p))
    F.sum(make(given).log_prob(np.array(x))).backward()
    np.testing.assert_allclose(given.grad, slopes)
    given.cleargrad()
    F.sum(D.kl_divergence(make(given), make(given))).backward()
    np.testing.assert_allclose(given.grad, 0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "p", "q", "expected"),
    [
        (D.Poisson, 0.0, 2.0, 2.0),
        (D.Geometric, 1.0, 0.5, np.log(2)),
        (D.Bernoulli, 0.0, 0.5, np.log(2)),
        (D.Bernoulli, 1.0, 1.0, 0.0),
    ],
)
def test_divergences_from_what_is_certain(make, p, q, expected):
    found = D.kl_divergence(make(np.array([p])), make(np.array([q])))
    np.testing.assert_allclose(found.array, [expected])


def test_a_bernoulli_of_great_logits_is_not_quite_certain():
    ours = D.Bernoulli(logit=np.array([20, -20], "f"))
    np.testing.assert_allclose(ours.variance.array, [2.0611537e-09] * 2, rtol=1e-5)
    np.testing.assert_allclose(ours.entropy.array, [4.3284228e-08] * 2, rtol=1e-5)


def _parameters(*values):
    return [Variable(np.array(value, "f")) for value in values]


def test_a_label_outside_has_no_probability():
    ours = D.Categorical(np.array([0.25, 0.75], "f"))
    labels = [0, 1, -1, 2, 0.5, NAN, INF]
    with np.errstate(all="ignore"):
        found = ours.prob(np.array(labels, "f")).array
    np.testing.assert_allclose(found, [0.25, 0.75, 0, 0, 0, NAN, 0], rtol=1e-6)
    np.testing.assert_allclose(ours.prob(np.array([1, 2])).array, [0.75, 0], rtol=1e-6)


def test_labels_are_looked_up_in_any_batch():
    rng = np.random.default_rng(0)
    logit = Variable(rng.normal(size=(2, 1, 5)))
    labels = rng.integers(0, 5, (4, 1, 3))
    found = D.Categorical(logit=logit).log_prob(labels)
    assert found.shape == (4, 2, 3)
    log_p = np.log(np.exp(logit.array) / np.exp(logit.array).sum(-1, keepdims=True))
    for i, j, k in np.ndindex(4, 2, 3):
        assert found.array[i, j, k] == pytest.approx(log_p[j, 0, labels[i, 0, k]])
    F.sum(found).backward()
    counts = (labels[..., None] == np.arange(5)).sum((0, 1, 2))
    np.testing.assert_allclose(logit.grad[:, 0], counts - 12 * np.exp(log_p[:, 0]), rtol=1e-9)


@pytest.mark.parametrize("of", [D.Categorical, D.OneHotCategorical, D.Dirichlet])
def test_classes_have_an_axis(of):
    with pytest.raises(core.errors.InvalidType, match=r"(p|alpha).ndim >= 1"):
        of(np.array(0.5))
    with pytest.raises(core.errors.InvalidType, match=r"logit.ndim >= 1"):
        D.Multinomial(3, logit=0.5)


def test_a_corner_of_the_simplex_has_a_density_where_it_is_flat():
    ours = D.Dirichlet(np.array([1, 1, 2], "f"))
    points = np.array([[0.2, 0.3, 0.5], [0, 0.5, 0.5], [-0.1, 0.6, 0.5], [NAN, 0.5, 0.5]], "f")
    np.testing.assert_allclose(ours.prob(points).array, [3, 3, 0, NAN], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_negative_zero_is_a_probability_of_zero(dtype):
    zero = np.array([-0.0, 0.0], dtype)
    loc, scale = np.zeros(2, dtype), np.ones(2, dtype)
    with np.errstate(divide="ignore"):
        for of in (D.Cauchy, D.Normal):
            assert (of(loc, scale).icdf(zero).array == -INF).all()


def _two(family, *parameters):
    """A mixture of two of them."""
    return D.MixtureSameFamily(D.Categorical(np.array([0.5, 0.5], "f")), family(*parameters))


FAR = {  # a distribution, a point in its tail below, and one in that above, of less than 1e-38
    "Beta": (lambda: D.Beta(np.array(40, "f"), np.array(50, "f")), 0.01, 0.999),
    "Binomial": (lambda: D.Binomial(1000, np.array(0.2, "f")), 1, 600),
    "Chisquare": (lambda: D.Chisquare(np.array(90, "f")), 1, 900),
    "Gamma": (lambda: D.Gamma(np.array(40, "f"), 1.0), 0.5, 300),
    "MixtureSameFamily": (lambda: _two(D.Gamma, np.array([40, 50], "f"), 1.0), 0.5, 300),
    "NegativeBinomial": (
        lambda: D.NegativeBinomial(np.array(50, "f"), np.array(0.1, "f")),
        1,
        2500,
    ),
    "Poisson": (lambda: D.Poisson(np.array(200, "f")), 1, 900),
    "StudentT": (lambda: D.StudentT(np.array(50, "f")), -200, 200),
}


@pytest.mark.parametrize("name", FAR)
def test_logarithms_of_tails_that_single_precision_does_not_hold(name):
    """They were -inf, and gradients 0 or NaN."""
    make, low, high = FAR[name]
    ours = make()
    for found in (ours.log_cdf(low), ours.log_survival_function(high)):
        assert -700 < found.array < -90 and found.dtype == "float32"
        for g in core.grad([F.sum(found)], [x for n, x in ours.params.items() if n != "n"]):
            assert g is None or (np.isfinite(g.array).all() and g.array.any())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_of_weibull_tails_where_the_power_is_beyond_the_dtype(dtype):
    """They were NaN, of probabilities that are 0 and 1."""
    given = [Variable(np.array(a, dtype)) for a in ([0.1, 0.1, 1], [10, 100, 2], [300, 2e3, 0.5])]
    ours = D.Weibull(*given[:2])
    for y, expected in (
        (ours.cdf(given[2]), [1, 1, -np.expm1(-0.25)]),
        (ours.survival_function(given[2]), [0, 0, np.exp(-0.25)]),
    ):
        found = core.grad([y], given, [Variable(np.ones(3, dtype))])
        np.testing.assert_allclose(y.array, expected, rtol=1e-3)
        for g in found:
            assert (g.array[:2] == 0).all() and abs(g.array[2]) > 0.1


def test_draws_of_what_is_no_shape_are_nan():
    """They were rejected for ever."""
    k = Variable(np.array([NAN, -1, INF, 2], "f"))
    y = D.Gamma(k, 1.0).sample(3)
    np.testing.assert_array_equal(np.isnan(y.array), [[True, True, True, False]] * 3)
    with np.errstate(all="ignore"):
        F.sum(y).backward()
    assert np.isfinite(k.grad[3])
    np.testing.assert_array_equal(np.isnan(D.Beta(k, 1.0).sample().array), [1, 1, 1, 0])
    assert np.isnan(D.Dirichlet(k).sample().array).all()


def test_draws_beyond_integers_are_the_greatest():
    with np.errstate(all="ignore"):
        greatest = D.Poisson(np.array([INF, 1e30], "f")).sample(2).array
        trials = D.Geometric(np.array([1e-30, 1e-10], "f")).sample(100).array
    assert trials.dtype == greatest.dtype == "int64"
    assert (greatest > 2**61).all() and (trials[:, 0] > 2**61).all()
    assert trials.min() > 0 and 1e9 < trials[:, 1].mean() < 1e11


def test_integers_are_parameters_of_the_dtype_beside_them():
    ours = D.Uniform(low=np.array([0, 1]), high=2.5)
    assert ours.low.dtype == core.config.dtype
    np.testing.assert_array_equal(ours.scale.array, [2.5, 1.5])
    ours = D.Normal(np.array([0, 1]), np.array([0.5, 2.0]))
    assert ours.loc.dtype == "float64"
    vectors = D.MultivariateNormal(np.array([0, 1]), np.eye(2))
    assert vectors.loc.dtype == vectors.sample().dtype == "float64"
    assert D.MultivariateNormal(np.zeros(1, int), np.ones((1, 1), int)).loc.dtype == "float32"
    np.testing.assert_allclose(ours.prob(np.array([0, 1])).array, S.norm.pdf(0) / ours.scale.array)


def test_variances_in_half_precision_do_not_overflow():
    a = np.array([20, 40], "float16")
    np.testing.assert_allclose(
        D.Beta(a, a).variance.array, S.beta.var(a.astype("d"), a.astype("d")), rtol=1e-2
    )
    found = D.Dirichlet(a).variance.array
    np.testing.assert_allclose(found, np.full(2, S.beta.var(20, 40)), rtol=1e-2)


@pytest.mark.parametrize("make", [D.Laplace, D.Logistic, D.Gumbel, D.StudentT, D.Uniform])
@pytest.mark.parametrize(("dtype", "factor"), [("float16", 1e3), ("float32", 1e20), ("f", 1e-25)])
def test_deviations_whose_squares_a_dtype_does_not_hold(make, dtype, factor):
    """They were infinite, or 0 with infinite gradients."""
    first = 3.0 if make is D.StudentT else 0.0
    more = (0.0,) if make is D.StudentT else ()
    scale = Variable(np.array([factor], dtype))
    for ours in (made := make(first, *more, scale), D.Independent(made, 1)):
        found = ours.stddev
        expected = make(first, *more, np.array([1.0])).stddev.array
        np.testing.assert_allclose(found.array / scale.array, expected, rtol=2e-3)
        (slope,) = core.grad([F.sum(found)], [scale])
        np.testing.assert_allclose(slope.array, expected, rtol=2e-3)
        assert found.dtype == slope.dtype == dtype


IN_HALF = [
    (D.Bernoulli, S.bernoulli, 1e-4),
    (lambda p: D.Binomial(3, p), lambda p: S.binom(3, p), 1e-4),
    (D.Geometric, S.geom, 1e-4),
    (D.Poisson, S.poisson, 1e-4),
    (lambda p: D.NegativeBinomial(1, p), lambda p: S.nbinom(1, p), 1e-3),
    (lambda k: D.Gamma(k, 1), S.gamma, 1e4),
    (lambda a: D.Beta(a, a), lambda a: S.beta(a, a), 5e3),
    (lambda a: D.Dirichlet(F.stack([a, a], axis=-1)), lambda a: S.beta(a, a), 5e3),
    (D.StudentT, S.t, 2e4),
]


@pytest.mark.parametrize(("make", "reference", "parameter"), IN_HALF)
def test_draws_in_half_precision(make, reference, parameter, fixed_draws):
    """What is rare comes as often as it should, and what is near lies as far apart."""
    given = np.full(20_000 if parameter > 1e-4 else 200_000, parameter, "float16")
    expected = reference(float(given[0]))
    drawn = make(given).sample().array.astype("d")
    deviation = drawn.std() / drawn.size**0.5 if drawn.std() else 0
    assert abs(drawn.mean() - expected.mean()) < 5 * deviation + 2e-4 * expected.mean()
    np.testing.assert_allclose(drawn.std(), expected.std(), rtol=0.15)


@pytest.mark.parametrize("make", [D.Binomial, D.Multinomial])
def test_trials_that_are_rounded_are_refused(make):
    """Of 100000 in float16 there were infinitely many."""
    p = np.full((2, 2), 0.5, "float16")
    for n in (100_000, 2049, np.array(2049)):
        with (
            np.errstate(over="ignore"),
            pytest.raises(ValueError, match="expected n that float16 holds"),
        ):
            make(n, p)
        make(n, p.astype("f"))
    assert make(2048, p).sample().array.max() < 2048


IN_BFLOAT16 = [
    (D.Exponential, S.expon(0, 1 / 2)),
    (lambda loc: D.Laplace(loc, 1), S.laplace(2)),
    (lambda loc: D.Gumbel(loc, 1), S.gumbel_r(2)),
    (lambda loc: D.Logistic(loc, 1), S.logistic(2)),
    (lambda k: D.Gamma(k, 1), S.gamma(2)),
    (lambda a: D.Beta(a, a), S.beta(2, 2)),
    (lambda a: D.Dirichlet(F.stack([a, a], axis=-1)), S.beta(2, 2)),
    (lambda low: D.Uniform(low, 1), S.uniform(2, 1)),
    (lambda k: D.Weibull(1, k), S.weibull_min(2)),
]


@pytest.mark.parametrize(("make", "reference"), IN_BFLOAT16)
def test_draws_in_bfloat16(make, reference, fixed_draws):
    """NumPy does not know its limits."""
    given = np.full(10_000, 2, pytest.importorskip("ml_dtypes").bfloat16)
    drawn = make(given).sample()
    assert drawn.dtype == given.dtype
    values = drawn.array.astype("d")
    assert np.isfinite(values).all()
    assert abs(values.mean() - reference.mean()) < 0.06 * reference.std()


@pytest.mark.parametrize("make", [lambda loc: D.Cauchy(loc, 1), D.HalfCauchy])
def test_draws_without_a_mean_in_bfloat16(make, fixed_draws):
    """NumPy made float32 of their uniform numbers, which met scales of another dtype."""
    given = np.full(10_000, 2, pytest.importorskip("ml_dtypes").bfloat16)
    drawn = make(given).sample()
    assert drawn.dtype == given.dtype
    assert abs(np.median(drawn.array.astype("d")) - 2) < 0.1


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_draws_of_many_classes(dtype, fixed_draws):
    p = np.full(1000, 1e-3, dtype)
    p[[0, 400, 999]] = 0
    drawn = D.Categorical(p).sample(20_000).array
    assert not np.isin(drawn, [0, 400, 999]).any()
    assert abs(drawn.mean() / 499.5 - 1) < 0.02
    assert 950 < len(np.unique(drawn)) <= 997


@pytest.mark.parametrize("of_logs", [False, True])
def test_slopes_of_draws_of_great_shapes(of_logs, monkeypatch):
    """The series and its limit agree where both can be computed."""
    k = 1e7
    x = k + np.sqrt(k) * np.array([-4.0, -1.0, 0.0, 2.0, 4.0])
    given = np.full(5, k), np.log(x) if of_logs else x
    series = gamma_draws.GammaSlope(of_logs).evaluate(*given)
    monkeypatch.setattr(gamma_draws, "GREAT", 1e6)
    np.testing.assert_allclose(gamma_draws.GammaSlope(of_logs).evaluate(*given), series, rtol=1e-7)
    (slope,) = core.grad(
        [F.mean(D.Gamma(given := Variable(np.array([1e15])), 1).sample())], [given]
    )
    np.testing.assert_allclose(slope.array, 1, rtol=1e-6)


OF_NUMBERS = [
    *(D.Normal, D.Beta, D.Gamma, D.Laplace, D.Cauchy, D.Gumbel, D.LogNormal, D.Pareto, D.Uniform),
    *(D.Exponential, D.Chisquare, D.Poisson),
]


@pytest.mark.parametrize("of", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("make", OF_NUMBERS)
def test_numbers_are_of_numpy_as_of_python(make, of):
    given = [0.5, 2][: len(inspect.signature(make).parameters)]
    ours, theirs = make(*given), make(of(0.5), *[np.int64(each) for each in given[1:]])
    for a, b in zip(ours.params.values(), theirs.params.values(), strict=True):
        assert (a.array.tobytes(), a.dtype) == (b.array.tobytes(), b.dtype)
    for x, point in ((0.5, of(0.5)), (2, np.int32(2))):
        assert ours.log_prob(x).array.tobytes() == theirs.log_prob(point).array.tobytes()


@pytest.mark.parametrize("of", [int, float, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_number_is_a_class(dtype, of):
    logit = np.zeros((2, 4000), dtype)
    logit[1, 3001] = 9
    categorical = D.Categorical(logit=logit)
    for k in (0, 3000, 3001, 3999):
        expected = categorical.log_prob(np.full(2, k))
        assert categorical.log_prob(of(k)).array.tobytes() == expected.array.tobytes()
    assert np.isneginf(categorical.log_prob(of(4000)).array).all()


def test_densities_of_great_parameters_keep_their_digits():
    """Their terms are of many digits, and cancel; of 20000 events float32 was off by 0.02."""
    lam, x = np.array([19e3, 3e4, 1e6], "f"), np.array([18933, 3e4, 1002000], "f")
    d = x.astype("d"), lam.astype("d")
    for found, expected in [
        (D.Poisson(lam).log_prob(x), S.poisson.logpmf(*d)),
        (D.Gamma(lam, 1.0).log_prob(x), S.gamma.logpdf(*d)),
        (D.Gamma(lam, 1.0).entropy, S.gamma.entropy(d[1])),
        (D.Beta(lam, lam).log_prob(lam / (2 * lam)), S.beta.logpdf(0.5, d[1], d[1])),
        (D.Beta(lam, lam).entropy, S.beta.entropy(d[1], d[1])),
        (D.Dirichlet(lam).entropy, S.dirichlet.entropy(d[1])),
        (D.kl_divergence(D.Poisson(x), D.Poisson(lam)), d[0] * np.log(d[0] / d[1]) - d[0] + d[1]),
    ]:
        assert found.dtype == "float32"
        np.testing.assert_allclose(found.array, expected, rtol=1e-6)
    with pytest.raises(core.errors.InvalidType):
        D.Gamma(lam, 1.0).log_prob(d[0])


def test_slopes_in_parameters_end_far_out():
    """Their sums never converged, and gradients of 1e300 never came."""
    x, k = Variable(np.array([1e160, 1e300])), Variable(np.array([0.5, 2]))
    (slope,) = core.grad([F.sum(D.Gamma(k, 1.0).cdf(x))], [k])
    np.testing.assert_array_equal(slope.array, 0)


def test_the_slope_of_an_infinite_log_normal_point_is_0():
    x = Variable(np.array([INF, 1.0], "f"))
    (slope,) = core.grad([F.sum(D.LogNormal(0.0, 1.0).log_prob(x))], [x])
    np.testing.assert_array_equal(slope.array, [0, -1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: D.Uniform(np.zeros((2, 3)), 1.0).log_prob(np.ones(2)),
        lambda: D.Categorical(np.full((2, 3, 4), 0.25)).log_prob(np.ones(2, "i")),
        lambda: D.MultivariateNormal(np.zeros((3, 2)), np.zeros((2, 2, 2))),
        lambda: D.TransformedDistribution(D.Normal(np.zeros(3), 1.0), D.ExpTransform()).prob(
            np.ones(2)
        ),
        lambda: D.TransformedDistribution(
            D.Normal(np.zeros(3), 1.0), D.AffineTransform(np.zeros(2), 1.0)
        ),
        lambda: D.kl_divergence(D.Uniform(np.zeros((2, 3)), 1.0), D.Uniform(np.zeros(2), 1.0)),
        lambda: D.kl_divergence(*[D.Multinomial(2, np.full((n, 2), 0.5)) for n in (2, 3)]),
        lambda: D.kl_divergence(*[D.NegativeBinomial(np.ones(n), 0.5) for n in (2, 3)]),
    ],
)
def test_shapes_that_do_not_broadcast_are_refused(call):
    with pytest.raises(
        core.errors.InvalidType, match=r"(shape|AffineTransform).* and .*shape.* broadcast"
    ):
        call()


@pytest.mark.parametrize("shape", [-1, (-1,), (2, -1), (-1, -2)])
def test_less_than_no_draws_are_refused(shape):
    with pytest.raises(ValueError, match=r"sample: expected sample_shape .* in \[0, inf\)"):
        D.Normal(np.zeros(2), 1.0).sample(shape)


@pytest.mark.parametrize(("make", "reference", "parameters", "points"), CASES)
def test_densities_are_traced_where_parameters_or_points_are_from_outside(
    make, reference, parameters, points
):
    """As of a fixed prior; arrays of two backends met."""
    given = [np.full(2, value, "d") for value in parameters[0]]
    x = np.resize(np.array(points, "d"), (6, 2))
    with np.errstate(divide="ignore"):  # at poles
        ours = make(*given)
        expected = ours.log_prob(x).array
        for points_alone in (core.trace(ours.log_prob, x + 1), core.vmap(ours.log_prob)):
            np.testing.assert_allclose(points_alone(Variable(x)).array, expected, rtol=1e-12)
        program = core.trace(lambda *given: make(*given).log_prob(x), *[p + 0.5 for p in given])
        np.testing.assert_allclose(program(*given).array, expected, rtol=1e-12)


@pytest.mark.parametrize("of", [D.Bernoulli, D.Categorical, D.Geometric, D.Poisson, D.Gamma])
def test_divergences_from_fixed_distributions_are_traced(of):
    def make(p):
        return of(p, 1.0) if of is D.Gamma else of(p)

    p, prior = np.array([0.25, 0.75]), make(np.array([0.5, 0.5]))
    for kl in (
        lambda p: D.kl_divergence(make(p), prior),
        lambda p: D.kl_divergence(prior, make(p)),
    ):
        found = core.trace(kl, p[::-1].copy())(p)
        np.testing.assert_allclose(found.array, kl(p).array, rtol=1e-12)


@pytest.mark.parametrize("n", [-1, 2.5, (2,), "3", None])
def test_what_is_no_number_of_draws_is_refused(n):
    """It was by NumPy, or by Python."""
    for ours in (D.Normal(np.zeros(2), 1.0), D.Categorical(np.ones(1))):
        with pytest.raises((TypeError, ValueError), match=r"sample_n: expected n to be a whole"):
            ours.sample_n(n)
        assert len(ours.sample_n(np.int64(3))) == len(ours.sample_n(n=3)) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda k: D.Categorical(np.full(k, 1 / k)),
        lambda k: D.OneHotCategorical(np.full(k, 1 / k)),
        lambda k: D.Multinomial(2, np.full(k, 1 / k)),
        lambda k: D.Dirichlet(np.ones(k)),
        lambda k: D.Independent(D.Normal(np.zeros(k), 1.0), 1),
        lambda k: D.MultivariateNormal(np.zeros(k), np.eye(k)),
    ],
)
def test_divergences_of_points_of_other_sizes_are_refused(make):
    """Points of one element were repeated, and the divergence was of no distributions."""
    for k in (1, 2):
        with pytest.raises(core.errors.InvalidType, match=rf"{k}.* and .*3"):
            D.kl_divergence(make(k), make(3))


class Triangular(D.Distribution):
    """One's own, which says nothing of its parameters."""

    def __init__(self, width):
        self.width = core.as_variable(width)
        self.batch_shape = self.width.shape

    def log_prob(self, x):
        return F.log(self.width - abs(x)) - 2 * F.log(self.width)

    def cdf(self, x):
        z = 1 - abs(x) / self.width
        return F.where(x.array < 0, 0.5 * z * z, 1 - 0.5 * z * z)


def test_a_class_of_ones_own_may_name_no_parameters():
    ours = Triangular(np.array([1.0, 2.0]))
    x = np.array([-0.5, 0.5])
    theirs = [S.triang(0.5, -w, 2 * w) for w in (1, 2)]
    for name in ("cdf", "survival_function", "log_cdf", "log_survival_function", "log_prob"):
        of = {**FUNCTIONS, "log_prob": "logpdf"}[name]
        expected = [getattr(frozen, of)(at) for frozen, at in zip(theirs, x, strict=True)]
        np.testing.assert_allclose(getattr(ours, name)(x).array, expected, rtol=1e-9)
    np.testing.assert_array_equal(ours.cdf(np.array([INF, -INF])).array, [1, 0])
    moved = D.TransformedDistribution(ours, D.AffineTransform(1.0, 2.0))
    np.testing.assert_allclose(moved.prob(1 + 2 * x).array, 0.5 * ours.prob(x).array)


class Tempered(D.Distribution):
    """One's own, whose draws take more than their number."""

    def __init__(self, loc):
        (self.loc,) = self._parameters(loc=loc)

    def sample_n(self, n, shift=0.0, *, temperature=1.0):
        return F.broadcast_to(self.loc * temperature + shift, (n, *self.batch_shape))


def test_draws_of_a_class_of_ones_own_may_take_more_than_their_number():
    ours = Tempered(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(ours.sample_n(1, 3.0, temperature=2.0).array, [[5, 7]])
    with pytest.raises(core.errors.InvalidSetting, match="sample_n: expected n"):
        ours.sample_n(1.5, temperature=2.0)


def test_infinite_vectors_have_no_density_and_no_slope():
    """They were NaN, and so were all gradients."""
    x = Variable(np.array([[INF, 0.0], [1.0, -INF], [1.0, 2.0]]))
    loc, tril = Variable(np.zeros(2)), Variable(np.array([[1.0, 0.0], [0.5, 2.0]]))
    y = D.MultivariateNormal(loc, tril).log_prob(x)
    assert np.isnan(D.MultivariateNormal(loc, tril).log_prob(np.array([NAN, 0.0])).array)
    known = S.multivariate_normal([0, 0], tril.array @ tril.array.T).logpdf([1, 2])
    np.testing.assert_allclose(y.array, [-INF, -INF, known])
    slopes = core.grad([F.sum(y)], [x, loc, tril])
    alone = core.grad([D.MultivariateNormal(loc, tril).log_prob(x[2])], [x, loc, tril])
    for slope, expected in zip(slopes, alone, strict=True):
        np.testing.assert_allclose(slope.array, expected.array)


VECTORS = [
    lambda k: D.OneHotCategorical(np.full(k, 1 / k)),
    lambda k: D.Multinomial(1, np.full(k, 1 / k)),
    lambda k: D.Dirichlet(np.ones(k)),
    lambda k: D.MultivariateNormal(np.zeros(k), np.eye(k)),
    lambda k: D.Independent(D.Normal(np.zeros((2, k)), 1.0), 2),
    lambda k: D.TransformedDistribution(
        D.Independent(D.Normal(np.zeros(k), 1.0), 1), D.AffineTransform(np.zeros(k), 2.0)
    ),
]


@pytest.mark.parametrize("make", VECTORS)
def test_points_of_too_few_elements_are_refused(make):
    """One element stood for all of a point."""
    ours = make(3)
    drawn = ours.sample(4).array
    assert ours.log_prob(drawn).shape == ours.log_prob(Variable(drawn)).shape == (4,)
    for x in (1.0, np.float32(1), np.ones(1), drawn[..., :1], drawn[..., :2]):
        with pytest.raises(core.errors.InvalidType, match=r"the shape of a point"):
            ours.log_prob(x)
    with pytest.raises(TypeError, match=r"got list.*Make an array of it"):
        ours.log_prob(drawn[0].tolist())


@pytest.mark.parametrize("given", [3, np.zeros(2)])
def test_what_is_no_distribution_is_refused(given):
    for make in (
        D.Independent,
        lambda d: D.TransformedDistribution(d, D.ExpTransform()),
        lambda d: D.MixtureSameFamily(D.Categorical(np.ones(1)), d),
    ):
        with pytest.raises(TypeError, match=r": expected .* to be a distribution, got "):
            make(given)


def test_variances_of_steep_weibull_distributions():
    """Logarithms of gamma functions cancelled: some were negative."""
    log, step = np.linspace(-80, 6, 4000, retstep=True)  # of times that fail at the rate 1
    weight = np.exp(log - np.exp(log)) * step

    def covariance(x, y):
        return weight @ (x * y) - (weight @ x) * (weight @ y)

    for dtype, rtol in (("float32", 1e-6), ("float64", 1e-10)):
        k = core.Variable(np.geomspace(30, 1e15, 60).astype(dtype))
        variance = D.Weibull(np.full(60, 2, dtype), k).variance
        F.sum(variance).backward()
        ratios = [log / float(each) for each in k.array]
        slopes = [-np.exp(r) * r / float(each) for r, each in zip(ratios, k.array, strict=True)]
        expected = [4 * covariance(np.expm1(r), np.expm1(r)) for r in ratios]
        np.testing.assert_allclose(variance.array, expected, rtol=rtol)
        rates = [8 * covariance(np.expm1(r), s) for r, s in zip(ratios, slopes, strict=True)]
        np.testing.assert_allclose(k.grad, rates, rtol=10 * rtol, atol=1e-38)


def test_the_least_point_of_a_log_normal_distribution_does_not_move():
    mu, sigma = core.Variable(np.array([0.3])), core.Variable(np.array([1.5]))
    d = D.LogNormal(mu, sigma)
    np.testing.assert_array_equal(d.icdf(np.array([0, 1, -1, NAN])).array, [0, INF, NAN, NAN])
    F.sum(d.icdf(np.array([0.0, 0.2]))).backward()
    z = S.norm.ppf(0.2)
    np.testing.assert_allclose(sigma.grad, z * np.exp(0.3 + 1.5 * z))
    np.testing.assert_allclose(mu.grad, np.exp(0.3 + 1.5 * z))
