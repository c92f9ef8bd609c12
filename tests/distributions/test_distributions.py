"""Every distribution against SciPy's: densities, moments, draws, gradients of draws."""

import numpy as np
import pytest
import scipy.stats as S
from scipy import special

import core
import core.distributions as D
import core.functions as F
from core import real
from core.testing import check_distribution
from core.testing.gradient_check import check_backward
from plugins.distributions import incomplete_formulas
from plugins.distributions.gamma_draws import GammaSlope
from plugins.distributions.incomplete import (
    Betainc,
    Betaincc,
    Betaincinv,
    Gammainc,
    Gammaincc,
    Gammaincinv,
)
from plugins.distributions.student_tails import StudentPoint, StudentTail

LOC, SCALE = real(-2, 2), real(0.5, 2)
PLACED = {"loc": LOC, "scale": SCALE}


def simplex(rng):
    return rng.dirichlet(np.full(4, 3.0))


def tril(rng):
    return np.tril(rng.normal(size=(3, 3))) * 0.3 + np.eye(3)


def one_hot(rng, frozen):
    return frozen.rvs(1, random_state=rng)[0]


class OfNumbers:
    """A frozen rv_discrete, whose logarithms and entropy stand under other names."""

    def __init__(self, p=None, logit=None):
        p = np.exp(logit) if p is None else p
        self._made = S.rv_discrete(values=(np.arange(len(p)), p / p.sum()))

    def __getattr__(self, name):
        return getattr(self._made, name)


class Multinomial:
    def __init__(self, p, n=1):
        self._made, self._mean = S.multinomial(int(n), p), n * p

    def mean(self):
        return self._mean

    def var(self):
        return np.diag(self._made.cov())

    def __getattr__(self, name):
        return getattr(self._made, name)


class Normals:
    def __init__(self, loc, scale_tril):
        self._made = S.multivariate_normal(loc, scale_tril @ scale_tril.T)

    def mean(self):
        return self._made.mean

    def cov(self):
        return self._made.cov_object.covariance

    def var(self):
        return np.diag(self.cov())

    def __getattr__(self, name):
        if name in ("cdf", "logcdf", "sf", "logsf"):
            raise AttributeError(name)
        return getattr(self._made, name)


class Angles:
    """S.vonmises, whose variance is another, and whose tails go on without end."""

    def __init__(self, loc, concentration):
        self._made, self._loc = S.vonmises(concentration, loc), loc
        self._length = special.ive(1, concentration) / special.ive(0, concentration)

    def mean(self):
        return self._loc

    def var(self):
        return 1 - self._length

    def cdf(self, x):
        return self._made.cdf(x) - self._made.cdf(-np.pi)

    def __getattr__(self, name):
        return getattr(self._made, name)


PROOFS = {
    D.Bernoulli: (S.bernoulli, {"p": real(0.1, 0.9)}, {"discrete": True}),
    D.Beta: (S.beta, {"a": SCALE, "b": SCALE}, {"reparametrized": True}),
    D.Categorical: (OfNumbers, {"p": simplex}, {"discrete": True}),
    D.Cauchy: (S.cauchy, PLACED, {"reparametrized": True}),
    D.Chisquare: (lambda k: S.chi2(k), {"k": real(1, 9)}, {"reparametrized": True}),
    D.Dirichlet: (
        S.dirichlet,
        {"alpha": lambda rng: rng.uniform(0.5, 3, 3)},
        {"reparametrized": True, "points": lambda rng, frozen: rng.dirichlet([3, 3, 3])},
    ),
    D.Exponential: (lambda lam: S.expon(0, 1 / lam), {"lam": SCALE}, {"reparametrized": True}),
    D.Gamma: (
        lambda k, theta: S.gamma(k, 0, theta),
        {"k": real(0.3, 6), "theta": SCALE},
        {"reparametrized": True},
    ),
    D.Geometric: (S.geom, {"p": real(0.1, 0.9)}, {"discrete": True}),
    D.Gumbel: (S.gumbel_r, PLACED, {"reparametrized": True}),
    D.HalfCauchy: (
        lambda scale: S.halfcauchy(0, scale),
        {"scale": SCALE},
        {"reparametrized": True},
    ),
    D.HalfNormal: (lambda scale: S.halfnorm(0, scale), {"scale": SCALE}, {"reparametrized": True}),
    D.Laplace: (S.laplace, PLACED, {"reparametrized": True}),
    D.Logistic: (S.logistic, PLACED, {"reparametrized": True}),
    D.LogNormal: (
        lambda mu, sigma: S.lognorm(sigma, 0, np.exp(mu)),
        {"mu": LOC, "sigma": SCALE},
        {"reparametrized": True},
    ),
    D.MultivariateNormal: (
        Normals,
        {"loc": lambda rng: rng.normal(size=3), "scale_tril": tril},
        {"reparametrized": True},
    ),
    D.NegativeBinomial: (
        lambda r, p: S.nbinom(r, p),
        {"r": real(0.5, 9), "p": real(0.1, 0.9)},
        {"discrete": True},
    ),
    D.Normal: (S.norm, PLACED, {"reparametrized": True}),
    D.OneHotCategorical: (Multinomial, {"p": simplex}, {"discrete": True, "points": one_hot}),
    D.Pareto: (
        lambda scale, alpha: S.pareto(alpha, 0, scale),
        {"scale": SCALE, "alpha": real(2.5, 5)},
        {"reparametrized": True},
    ),
    D.Poisson: (lambda lam: S.poisson(lam), {"lam": real(0.5, 40)}, {"discrete": True}),
    D.StudentT: (S.t, {"df": real(2.5, 9), **PLACED}, {"reparametrized": True}),
    D.Uniform: (S.uniform, PLACED, {"reparametrized": True}),
    D.VonMises: (Angles, {"loc": LOC, "concentration": real(0.1, 60)}, {}),
    D.Weibull: (
        lambda scale, k: S.weibull_min(k, 0, scale),
        {"scale": SCALE, "k": real(0.5, 5)},
        {"reparametrized": True},
    ),
}


@pytest.mark.parametrize("distribution", PROOFS, ids=lambda d: d.__name__)
def test_against_scipy(distribution):
    reference, params, more = PROOFS[distribution]
    check_distribution(distribution, reference, params=params, examples=6, **more)


TRANSFORMS = {"AffineTransform", "ExpTransform", "SigmoidTransform", "TanhTransform", "Transform"}
PROVEN_APART = {"Binomial", "Independent", "MixtureSameFamily", "Multinomial"} | TRANSFORMS
PROVEN_APART |= {"TransformedDistribution"}


@pytest.mark.parametrize("n", [1, 7, 60])
def test_counts_of_trials_against_scipy(n):
    check_distribution(
        lambda p: D.Binomial(np.array(n), p),
        lambda p: S.binom(n, p),
        params={"p": real(0.1, 0.9)},
        discrete=True,
        examples=4,
    )
    check_distribution(
        lambda logit: D.Multinomial(n, logit=logit),
        lambda logit: Multinomial(special.softmax(logit), n),
        params={"logit": lambda rng: rng.normal(size=4)},
        discrete=True,
        points=one_hot,
        examples=4,
    )
    p, q = (D.Binomial(n, np.array(each)) for each in (0.2, 0.7))
    x = np.arange(n + 1.0)
    expected = (p.prob(x).array * (p.log_prob(x) - q.log_prob(x)).array).sum()
    np.testing.assert_allclose(D.kl_divergence(p, q).array, expected)
    found = D.kl_divergence(*[D.Multinomial(n, np.array([each, 1 - each])) for each in (0.2, 0.7)])
    np.testing.assert_allclose(found.array, expected)
    assert D.kl_divergence(D.Binomial(n + 1, np.array(0.5)), q).array == np.inf
    with pytest.raises(NotImplementedError, match="no more trials in the second"):
        D.kl_divergence(q, D.Binomial(n + 1, np.array(0.5)))
    with pytest.raises(NotImplementedError, match="the same r in both"):
        D.kl_divergence(*[D.NegativeBinomial(r, np.array(0.5)) for r in (n, n + 1)])


def test_counts_of_classes_that_are_none_have_no_probability():
    d = D.Multinomial(np.array([2, 3]), np.array([[0.5, 0.5, 0], [0.25, 0.25, 0.5]], "f"))
    points = [[1, 1, 0], [2, 1, 0], [2.5, 0.5, 0], [-1, 3, 1], [np.nan, 1, 1]]
    found = d.prob(np.array(points, "f")[:, None]).array
    expected = [[0.5, 0], [0, 3 / 64], [0, 0], [0, 0], [np.nan, np.nan]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    drawn = d.sample(1000).array
    assert (drawn.sum(-1) == [2, 3]).all() and drawn.min() == 0 == drawn[:, 0, 2].max()
    np.testing.assert_allclose(d.covariance.array[1], S.multinomial(3, [0.25, 0.25, 0.5]).cov())


def test_draws_of_many_trials():
    """By rejection, by counting, of what is sure, and of what is no probability."""
    n = np.array([10**6, 10**6, 10**15, 50, 50, 50, 50], "d")
    p = np.array([0.3, 1e-6, 0.9, 0.0, 1.0, 0.5, np.nan])
    core.seed(1)
    drawn = D.Binomial(n, p).sample(2000).array
    core.seed(None)
    assert drawn.dtype == "int64" and drawn.min() >= 0
    assert (drawn[:, 3] == 0).all() and (drawn[:, 4] == 50).all() and (drawn[:, 6] == 0).all()
    for i in (0, 1, 2, 5):
        mean, deviation = n[i] * p[i], np.sqrt(n[i] * p[i] * (1 - p[i]))
        assert abs(drawn[:, i].mean() - mean) < 5 * deviation / np.sqrt(2000)
        assert abs(drawn[:, i].std() / deviation - 1) < 0.1


def test_all_are_proven():
    classes = {n for n in D.__all__ if n[0].isupper()} - {"Distribution", *PROVEN_APART}
    assert {d.__name__ for d in PROOFS} == classes


@pytest.mark.parametrize(
    ("make", "params", "reference"),
    [
        (lambda logit: D.Bernoulli(logit=logit), {"logit": LOC}, None),
        (lambda logit: D.Categorical(logit=logit), {"logit": lambda rng: rng.normal(size=3)}, None),
        (
            lambda low, high: D.Uniform(low=low, high=high),
            {"low": real(-2, 0), "high": real(1, 2)},
            lambda low, high: S.uniform(low, high - low),
        ),
        (
            lambda loc, log_scale: D.Normal(loc, log_scale=log_scale),
            {"loc": LOC, "log_scale": real(-1, 1)},
            lambda loc, log_scale: S.norm(loc, np.exp(log_scale)),
        ),
    ],
    ids=["Bernoulli", "Categorical", "Uniform", "Normal"],
)
def test_other_parameters(make, params, reference):
    discrete = reference is None
    if "logit" in params and params["logit"] is LOC:
        reference = lambda logit: S.bernoulli(1 / (1 + np.exp(-logit)))  # noqa: E731
    elif discrete:
        reference = OfNumbers
    check_distribution(make, reference, params=params, discrete=discrete, examples=4)


@pytest.mark.parametrize(
    ("transforms", "reference"),
    [
        ([D.ExpTransform()], lambda loc, scale: S.lognorm(scale, 0, np.exp(loc))),
        (
            [D.AffineTransform(0.5, 2.0), D.AffineTransform(1.0, -0.5)],
            lambda loc, scale: S.norm(0.75 - loc, scale),
        ),
        (
            [D.ExpTransform(), D.AffineTransform(0.0, -1.0), D.AffineTransform(0.0, -3.0)],
            lambda loc, scale: S.lognorm(scale, 0, 3 * np.exp(loc)),
        ),
    ],
)
def test_transformed_normal_distributions(transforms, reference):
    def made(loc, scale):
        return D.TransformedDistribution(D.Normal(loc, scale), transforms)

    check_distribution(made, reference, params=PLACED, reparametrized=True, examples=4)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transforms_beside_pytorchs(dtype):
    td, torch = pytest.importorskip("torch.distributions"), pytest.importorskip("torch")
    loc, scale = np.array([[0.5], [-1.0]], dtype), np.array([1.0, -2.0, 0.25], dtype)
    affine = td.AffineTransform(torch.tensor(loc), torch.tensor(scale))
    chains = [
        ([D.TanhTransform()], [td.TanhTransform()]),
        ([D.SigmoidTransform()], [td.SigmoidTransform()]),
        ([D.AffineTransform(loc, scale), D.SigmoidTransform()], [affine, td.SigmoidTransform()]),
        ([D.TanhTransform(), D.AffineTransform(loc, scale)], [td.TanhTransform(), affine]),
    ]
    mean = np.linspace(-1, 1, 6).reshape(2, 3).astype(dtype)
    for ours, theirs in chains:
        d = D.TransformedDistribution(D.Normal(mean, 1.5), ours)
        their = td.TransformedDistribution(td.Normal(torch.tensor(mean), 1.5), theirs)
        p = np.linspace(0.1, 0.9, 5, dtype=dtype)[:, None, None]
        x = d.icdf(p).array
        rtol = 1e-4 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(d.cdf(x).array, np.broadcast_to(p, x.shape), rtol=rtol)
        expected = their.log_prob(torch.tensor(x)).numpy()
        np.testing.assert_allclose(d.log_prob(x).array, expected, rtol=10 * rtol, atol=10 * rtol)
        joint = D.TransformedDistribution(D.Independent(D.Normal(mean, 1.5), 1), ours)
        np.testing.assert_allclose(joint.log_prob(x).array, expected.sum(-1), rtol=10 * rtol)
        assert joint.sample(4).shape == (4, 2, 3) and joint.batch_shape == (2,)


def test_points_that_no_transform_gives():
    x = core.Variable(np.array([-2.0, -1.0, 0.0, 1.0, 2.0, np.nan]))
    base = D.Normal(np.zeros(6), 1.0)
    d = D.TransformedDistribution(base, D.TanhTransform())
    y = d.log_prob(x)
    F.sum(y[:5]).backward()
    assert (y.array[[0, 1, 3, 4]] == -np.inf).all() and np.isfinite(y.array[2])
    np.testing.assert_array_equal(x.grad[:5], 0)
    np.testing.assert_array_equal(d.cdf(x).array, [0, 0, 0.5, 1, 1, np.nan])
    np.testing.assert_array_equal(d.log_cdf(x).array[:2], -np.inf)
    turned = D.TransformedDistribution(base, [D.ExpTransform(), D.AffineTransform(1.0, -1.0)])
    np.testing.assert_array_equal(turned.cdf(x).array[3:], [1, 1, np.nan])
    np.testing.assert_array_equal(turned.survival_function(x).array[3:], [0, 0, np.nan])
    with pytest.raises(TypeError, match="transforms to be a Transform or several, got 3"):
        D.TransformedDistribution(base, [3])
    with pytest.raises(core.errors.InvalidType, match="broadcasts to the shape of a point, .6,"):
        D.TransformedDistribution(base, D.AffineTransform(np.zeros((2, 6)), 1.0))
    with pytest.raises(NotImplementedError, match="the same transforms, as objects"):
        D.kl_divergence(d, turned)
    assert (D.kl_divergence(d, d).array == 0).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("transforms", "mean", "scale"),
    [
        ([D.TanhTransform()], 0, 20),
        ([D.TanhTransform(), D.AffineTransform(0.5, -3.0)], 0, 20),
        ([D.SigmoidTransform()], 0, 40),
        ([D.ExpTransform(), D.AffineTransform(0.0, 2.0)], -800, 80),
        ([D.TanhTransform(), D.AffineTransform(5.0, 5.0)], 0, 20),
        ([D.TanhTransform(), D.AffineTransform(100.0, -1.0)], 0, 20),
        ([D.TanhTransform(), D.AffineTransform(-4.9999, 5.0)], 0, 20),
        ([D.SigmoidTransform(), D.AffineTransform(1.0, -1.0)], 0, 40),
        ([D.SigmoidTransform(), D.AffineTransform(0.0, 2.0), D.ExpTransform()], 0, 40),
        ([D.SigmoidTransform(), D.SigmoidTransform()], 0, 40),
    ],
)
def test_draws_that_are_rounded_to_an_end_have_a_density(transforms, mean, scale, dtype):
    """It was 0, as of an action that tanh rounds to 1."""
    loc = core.Variable(np.full(400, mean, dtype))
    d = D.TransformedDistribution(D.Normal(loc, scale), transforms)
    drawn = d.sample()
    assert np.isfinite(d.log_prob(drawn).array).all() and drawn.dtype == dtype
    (slope,) = core.grad([F.sum(drawn)], [loc])
    assert np.isfinite(slope.array).all()


def test_draws_have_a_density_where_each_scale_has_a_sign_of_its_own():
    move = D.AffineTransform(np.linspace(-3, 9, 400), np.linspace(-7, 6, 400))
    base = D.Normal(np.zeros(400), 20.0)
    for transforms in ([D.TanhTransform(), move], [D.SigmoidTransform(), move, D.ExpTransform()]):
        d = D.TransformedDistribution(base, transforms)
        assert np.isfinite(d.log_prob(d.sample(20)).array).all()


@pytest.mark.parametrize("name", ["strict", "numpy"])
def test_draws_have_a_density_on_other_backends_and_in_bfloat16(name):
    home = core.backend.get(name)
    dtype = "float32" if name == "strict" else pytest.importorskip("ml_dtypes").bfloat16
    loc = home.asarray(np.zeros(300, dtype))
    base = D.Normal(loc, home.asarray(np.full(300, 20, dtype)))
    d = D.TransformedDistribution(base, [D.TanhTransform(), D.AffineTransform(5.0, 5.0)])
    drawn = d.sample()
    assert drawn.dtype == loc.dtype
    assert np.isfinite(home.to_host(d.log_prob(drawn).array).astype("f")).all()


def test_angles_that_are_all_alike_or_nearly_one():
    k = np.array([0.0, 1e-9, 1e-5, 24.9, 25.0, 1e4, 1e12])
    d = D.VonMises(np.full(7, 3.0), k)
    length = special.i1e(k) / special.i0e(k)
    np.testing.assert_allclose(d.variance.array[:6], 1 - length[:6], rtol=1e-11)
    np.testing.assert_allclose(d.variance.array[6], 0.5e-12, rtol=1e-9)
    at = np.log(2 * np.pi * special.i0e(k))
    np.testing.assert_allclose(d.log_prob(np.full(7, 3 + 2 * np.pi)).array[:5], -at[:5], rtol=1e-9)
    drawn = d.sample(2000).array
    assert (abs(drawn) <= np.pi).all()
    turn = drawn - 3 - 2 * np.pi * np.round((drawn - 3) / (2 * np.pi))
    np.testing.assert_allclose((turn[:, 5:] ** 2).mean(0) * k[5:], 1, rtol=0.2)
    assert np.isnan(D.VonMises(0.0, np.array([-1.0, np.nan])).sample().array).all()
    k = np.array([1e19, 1e21, 1e100, 1e300])  # draws of great ones were rejected for ever
    drawn = D.VonMises(0.0, k).sample(4000).array
    np.testing.assert_allclose((drawn**2).mean(0) * k, 1, rtol=0.15)


def test_independent_is_the_joint():
    inner = D.Normal(np.zeros((2, 3), "d"), np.full((2, 3), 2.0))
    joint = D.Independent(inner)
    x = np.random.default_rng(0).normal(size=(4, 2, 3))
    np.testing.assert_allclose(joint.log_prob(x).array, inner.log_prob(x).array.sum(-1))
    np.testing.assert_allclose(joint.entropy.array, inner.entropy.array.sum(-1))
    same = D.MultivariateNormal(inner.loc, np.stack([2 * np.eye(3)] * 2))
    np.testing.assert_allclose(joint.log_prob(x).array, same.log_prob(x).array)
    np.testing.assert_allclose(joint.covariance.array, same.covariance.array)
    assert joint.sample(5).shape == (5, 2, 3) and joint.params.keys() == {"loc", "scale"}
    with pytest.raises(ValueError, match="reinterpreted_batch_ndims of 0 to 2, got 3"):
        D.Independent(inner, 3)


def _made(distribution, seed):
    rng = np.random.default_rng(seed)
    params = PROOFS[distribution][1]
    return {
        n: where(rng) if callable(where) else rng.uniform(where.lo, where.hi)
        for n, where in params.items()
    }


NO_FORMULA = {D.Cauchy, D.HalfCauchy, D.Logistic, D.OneHotCategorical, D.StudentT}
DIVERGENCES = sorted(set(PROOFS) - NO_FORMULA, key=lambda d: d.__name__)


@pytest.mark.parametrize("distribution", DIVERGENCES, ids=lambda d: d.__name__)
def test_divergences_against_draws(distribution):
    """KL(p || q) is the mean of log p(x) - log q(x) over draws of p, within 5 standard errors."""
    p_params, q_params = _made(distribution, 1), _made(distribution, 2)
    if distribution is D.Uniform:
        q_params = {"loc": p_params["loc"] - 0.5, "scale": p_params["scale"] + 1}
    if distribution is D.NegativeBinomial:
        q_params["r"] = p_params["r"]
    if distribution is D.Pareto:
        q_params["scale"] = p_params["scale"] / 2
    p = distribution(**{n: np.asarray(x, "d") for n, x in p_params.items()})
    q = distribution(**{n: np.asarray(x, "d") for n, x in q_params.items()})
    core.seed(3)
    try:
        x = p.sample(20000).array
    finally:
        core.seed(None)
    apart = p.log_prob(x).array - q.log_prob(x).array
    found = float(D.kl_divergence(p, q).array)
    assert abs(apart.mean() - found) <= 5 * apart.std() / np.sqrt(len(apart)) + 1e-9
    np.testing.assert_allclose(D.kl_divergence(p, p).array, 0, atol=1e-9)
    if distribution not in (D.NegativeBinomial, D.Poisson):
        crossed = D.cross_entropy(p, q).array
        np.testing.assert_allclose(crossed, p.entropy.array + found, rtol=1e-6)


@pytest.mark.parametrize("distribution", DIVERGENCES, ids=lambda d: d.__name__)
def test_divergences_of_nearly_equal_distributions_in_single_precision(distribution):
    """Their terms cancelled: some were negative, and most were wrong in the second digit."""
    params = {n: np.asarray(x, "f")[None] for n, x in _made(distribution, 1).items()}
    near = {n: x if n in ("n", "r") else x * np.float32(1 - 2**-10) for n, x in params.items()}
    single, double = [
        D.kl_divergence(*[distribution(**{n: x.astype(t) for n, x in d.items()}) for d in pair])
        for t in "fd"
        for pair in [(params, near)]
    ]
    np.testing.assert_allclose(single.array, double.array, rtol=1e-6)
    assert single.dtype == "float32"


def test_divergence_of_one_hot_and_joint_distributions():
    p, q = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[0.5, 0.5], [0.1, 0.9]])
    expected = (p * np.log(p / q)).sum(-1)
    found = D.kl_divergence(D.OneHotCategorical(p), D.OneHotCategorical(q))
    np.testing.assert_allclose(found.array, expected)
    joint = [D.Independent(D.Categorical(each), 1) for each in (p, q)]
    np.testing.assert_allclose(D.kl_divergence(*joint).array, expected.sum())


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (D.Exponential(2.0), D.Gamma(3.0, 0.5)),
        (D.Gamma(3.0, 0.5), D.Exponential(2.0)),
        (D.Chisquare(3.0), D.Exponential(0.5)),
        (D.Weibull(2.0, 1.5), D.Exponential(1.0)),
        (D.Uniform(low=-1.0, high=2.0), D.Normal(1.0, 2.0)),
        (D.Laplace(1.0, 0.5), D.Normal(0.5, 2.0)),
        (D.Beta(2.0, 3.0), D.Normal(0.5, 0.5)),
        (D.Logistic(1.0, 0.5), D.Normal(0.5, 2.0)),
    ],
    ids=lambda d: type(d).__name__,
)
def test_divergences_of_two_classes_against_draws(p, q):
    core.seed(3)
    x = p.sample(20000).array
    core.seed(None)
    apart = p.log_prob(x).array - q.log_prob(x).array
    found = float(D.kl_divergence(p, q).array)
    assert abs(apart.mean() - found) <= 5 * apart.std() / np.sqrt(len(apart)) + 1e-6
    with pytest.raises(NotImplementedError, match="got Bernoulli and Normal"):
        D.kl_divergence(D.Bernoulli(0.5), D.Normal(0.0, 1.0))


def test_divergence_without_a_formula():
    with pytest.raises(NotImplementedError, match="got Normal and Cauchy.*register_kl"):
        D.kl_divergence(D.Normal(np.zeros(1), 1.0), D.Cauchy(np.zeros(1), 1.0))


def test_gamma_draws_refuse_second_derivatives():
    k = core.Variable(np.ones(3))
    y = core.functions.sum(D.Gamma(k, 1.0).sample())
    (g,) = core.grad([y], [k], enable_double_backprop=True)
    with pytest.raises(core.errors.GraphError, match="first derivatives only"):
        core.grad([g], [k])


def test_beta_draws_refuse_second_derivatives():
    a = core.Variable(np.ones(3))
    y = core.functions.sum(D.Beta(a, 2.0).sample())
    (g,) = core.grad([y], [a], enable_double_backprop=True)
    with pytest.raises(core.errors.GraphError, match="have none of their own"):
        core.grad([g], [a])


def logs(rng, low, high, n=300):
    """Numbers of all sizes."""
    return 10 ** rng.uniform(low, high, n)


def test_cumulative_functions_of_gamma_distributions_against_scipys():
    rng = np.random.default_rng(0)
    k = logs(rng, -3, 5)
    x, p = k * logs(rng, -1.5, 1), rng.uniform(0, 1, 300)
    d = D.Gamma(k, 1.0)
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(d.cdf(x).array, special.gammainc(k, x), rtol=1e-9, atol=1e-290)
        upper = special.gammaincc(k, x)
        np.testing.assert_allclose(d.survival_function(x).array, upper, rtol=1e-9, atol=1e-200)
        expected = special.gammaincinv(k, p)
        np.testing.assert_allclose(d.icdf(p).array, expected, rtol=1e-9, atol=1e-280)
    np.testing.assert_array_equal(D.Gamma(k, 1.0).cdf(np.full(300, -1.0)).array, 0)
    ends = D.Gamma(np.full(4, 2.0), 1.0).icdf(np.array([0, 1, -0.5, np.nan])).array
    np.testing.assert_array_equal(ends, [0, np.inf, np.nan, np.nan])


def test_cumulative_functions_of_beta_distributions_against_scipys():
    rng = np.random.default_rng(1)
    a, b, p = logs(rng, -2, 3), logs(rng, -2, 3), rng.uniform(0, 1, 300)
    x = rng.beta(np.maximum(a, 0.2), np.maximum(b, 0.2))
    d = D.Beta(a, b)
    with np.errstate(under="ignore"):
        expected = special.betainc(a, b, x)
        np.testing.assert_allclose(d.cdf(x).array, expected, rtol=1e-9, atol=1e-290)
        expected = special.betaincinv(a, b, p)
        np.testing.assert_allclose(d.icdf(p).array, expected, rtol=1e-9, atol=1e-280)
    a, x = logs(rng, -3, 0), logs(rng, -40, -1)
    found = D.Beta(a, b).survival_function(x).array
    np.testing.assert_allclose(found, special.betaincc(a, b, x), rtol=1e-8, atol=1e-280)
    outside = D.Beta(np.full(4, 2.0), 3.0).cdf(np.array([-1, 0, 1, 2.0])).array
    np.testing.assert_array_equal(outside, [0, 0, 1, 1])


@pytest.mark.parametrize(
    "op, points",
    [
        (Gammainc, [[0.6, 2.5, 30.0], [0.9, 2.0, 35.0]]),
        (Gammaincc, [[0.6, 2.5, 30.0], [0.9, 2.0, 35.0]]),
        (Gammaincinv, [[0.6, 2.5, 30.0], [0.3, 0.9, 0.6]]),
        (Betainc, [[0.6, 2.5, 9.0], [4.0, 0.7, 8.0], [0.1, 0.8, 0.5]]),
        (Betaincc, [[0.6, 2.5, 9.0], [4.0, 0.7, 8.0], [0.1, 0.8, 0.5]]),
        (Betaincinv, [[0.6, 2.5, 9.0], [4.0, 0.7, 8.0], [0.3, 0.9, 0.6]]),
        (StudentTail, [[0.6, 2.5, 90.0], [0.0, 2.0, -0.5]]),
        (StudentPoint, [[0.6, 2.5, 90.0], [0.3, 0.9, 0.6]]),
    ],
)
def test_derivatives_of_incomplete_functions(op, points):
    inputs = tuple([np.array(x) for x in points])
    check_backward(op.call, inputs, np.ones(3), eps=1e-4, atol=1e-6, rtol=1e-6)


def test_students_distributions_of_few_and_many_degrees_against_scipys():
    rng = np.random.default_rng(2)
    df, x, p = logs(rng, -1.5, 9), rng.normal(size=300) * logs(rng, -3, 1), rng.uniform(0, 1, 300)
    d = D.StudentT(df)
    np.testing.assert_allclose(d.cdf(x).array, special.stdtr(df, x), rtol=2e-8, atol=1e-300)
    expected = special.stdtrit(df, p)
    np.testing.assert_allclose(d.icdf(p).array, expected, rtol=2e-8)
    np.testing.assert_allclose(d.log_prob(x).array, S.t.logpdf(x, df), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(d.entropy.array, S.t.entropy(df), rtol=1e-8)
    single = D.StudentT(df.astype("f"))
    found = single.log_prob(x.astype("f")).array
    np.testing.assert_allclose(found, d.log_prob(x).array, rtol=1e-5, atol=1e-5)
    many = core.Variable(np.array([2e6, 2e6, 1e12]))
    F.sum(D.StudentT(many).cdf(np.array([1.0, -2.0, 3.0]))).backward()
    t = np.array([1.0, -2.0, 3.0])
    slope = S.norm.pdf(t) * (t + t**3) / (4 * many.array**2)
    np.testing.assert_allclose(many.grad, slope, rtol=1e-12)


def test_derivatives_where_points_are_tiny():
    b, step = 3.0, 1e-4
    for x in (1e-10, 1e-25):  # 1 - x is 1
        second = core.Variable(np.array([b]))
        Betainc.call(np.array([0.05]), second, np.array([x])).backward()
        ends = special.betainc(0.05, [b + step, b - step], x)
        np.testing.assert_allclose(second.grad, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
        other = core.Variable(np.array([b]))
        F.log(Betaincinv.call(np.array([0.05]), other, special.betainc([0.05], b, x))).backward()
        ends = special.betaincinv(0.05, [b + step, b - step], special.betainc(0.05, b, x))
        np.testing.assert_allclose(other.grad, np.log(ends[0] / ends[1]) / (2 * step), rtol=1e-6)
    k, p = core.Variable(np.full(1, 1e-3)), core.Variable(np.full(1, 0.3))
    Gammaincinv.call(k, p).backward()  # whose result is below all numbers
    assert k.grad == p.grad == 0


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_gamma_functions_of_great_shapes(backend, monkeypatch):
    """Their series had as many terms as the root of the shape, and seemed to have no end."""
    home = core.backend.get(backend)
    z = np.array([-30.0, -5.0, -1.0, -0.1, 0.0, 0.3, 2.0, 6.0, 36.0])

    def of(k):
        given = [core.Variable(home.asarray(x)) for x in (np.full(9, k), k + z * np.sqrt(k))]
        low, high = Gammainc.call(*given), Gammaincc.call(*given)
        slopes = core.grad([F.sum(low)], given)
        return [home.to_host(y.array) for y in (low, high, *slopes)]

    series = of(1e6)
    monkeypatch.setattr(incomplete_formulas, "_GREAT", 1e5)
    for found, expected in zip(of(1e6), series, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    for k in (1e8, 1e12, 1e15):
        expected = special.gammaincc(k, k + z * np.sqrt(k))[2:]  # SciPy's own lower tail is off
        np.testing.assert_allclose(of(k)[1][2:], expected, rtol=1e-9)
    tail = of(1e8)[0][1]  # by quadrature with 40 digits
    np.testing.assert_allclose(tail, 2.854642139958626e-07, rtol=1e-12)
    d = D.Poisson(np.array([1e9, 1e300]))
    np.testing.assert_allclose(d.cdf(np.array([1e9, 1e300])).array, special.pdtr(1e9, 1e9), 1e-4)
    found = D.Gamma(np.full(3, 1e9), 1.0).icdf(np.array([0.2, 0.3, 0.9]))
    expected = special.gammaincinv(1e9, [0.2, 0.3, 0.9])
    np.testing.assert_allclose(found.array, expected, rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_gradients_of_gamma_functions_of_great_shapes(backend):
    """Their density had lost its digits: from 1e14 on it was off by a third, and from 1e16 on 0."""
    home = core.backend.get(backend)
    z = np.array([-3.0, -0.5, 0.0, 0.3, 2.0])
    for k in (1e6, 1e10, 1e14, 1e15):
        x = k + z * np.sqrt(k)
        density = S.norm.pdf((x - k) / np.sqrt(k)) / np.sqrt(k)  # in the limit
        at = core.Variable(home.asarray(x))
        of_cdf = core.grad([F.sum(D.Gamma(home.asarray(np.full(5, k)), 1.0).cdf(at))], [at])[0]
        np.testing.assert_allclose(home.to_host(of_cdf.array), density, rtol=10 / np.sqrt(k) + 1e-7)
        p = core.Variable(home.asarray(special.ndtr(z)))
        of_icdf = core.grad([F.sum(D.Gamma(home.asarray(np.full(5, k)), 1.0).icdf(p))], [p])[0]
        rtol = 10 / np.sqrt(k) + 1e-6
        np.testing.assert_allclose(1 / home.to_host(of_icdf.array), density, rtol=rtol)
    x = core.Variable(home.asarray(np.array([np.inf, 0.0, -1.0])))
    d = D.Gamma(home.asarray(np.full(3, 2.0)), 1.0)
    assert home.to_host(core.grad([F.sum(d.cdf(x))], [x])[0].array).tolist() == [0, 0, 0]


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_beta_functions_of_great_parameters(backend, monkeypatch):
    """Their fraction seemed to have no end, and their density had lost its digits."""
    home = core.backend.get(backend)

    def of(a, b, z):
        mean = a / (a + b)
        x = mean + z * np.sqrt(mean * (b / (a + b)) / (a + b + 1))
        given = [core.Variable(home.asarray(np.broadcast_to(y, x.shape) + 0.0)) for y in (a, b, x)]
        low, high = Betainc.call(*given), Betaincc.call(*given)
        slopes = core.grad([F.sum(low)], given)
        return x, [home.to_host(y.array) for y in (low, high, *slopes)]

    z = np.array([-6.0, -3.0, -0.5, -1e-6, 0.0, 0.3, 2.0, 5.0])
    pairs = [(2e5, 2e5), (2e5, 3e8), (1e9, 1.2e5)]
    summed = [of(*pair, z) for pair in pairs]
    monkeypatch.setattr(incomplete_formulas, "_GREAT", 1e5)
    for pair, (_, expected) in zip(pairs, summed, strict=True):
        for found, summand in zip(of(*pair, z)[1], expected, strict=True):
            np.testing.assert_allclose(found, summand, rtol=3e-6)
    monkeypatch.undo()
    for a in (0.01, 2.0, 1e3, 1e5, 1.1e7, 1e10, 1e15, 1e17):
        for b in (1e10, 1e15, 1e17):
            x, found = of(a, b, z[z > (-1 if a > 3 else 0)])
            fits = x < 1e-5 if a > 1 else x < 1  # else x itself has few digits of 1 - x
            np.testing.assert_allclose(found[1][fits], special.betaincc(a, b, x)[fits], rtol=1e-9)
            density = S.gamma.logpdf(x, a, scale=1 / b)  # in the limit, of relative error x² b
            fits = x * np.sqrt(b) < 1e-5
            np.testing.assert_allclose(np.log(found[4])[fits], density[fits], rtol=1e-8)
    points = D.Beta(np.array([4.38e13, 1e17, 2.0]), np.array([7.96e13, 1e17, 1e17]))
    p = np.array([0.3, 0.9, 0.3])
    share = 4.38 / 12.34  # of normal numbers, in the limit
    first = share + special.ndtri(0.3) * np.sqrt(share * (1 - share) / 12.34e13)
    expected = [first, 0.5 + special.ndtri(0.9) / np.sqrt(8e17)]
    expected.append(special.gammaincinv(2.0, 0.3) / 1e17)
    np.testing.assert_allclose(points.icdf(p).array, expected, rtol=1e-10)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_beta_functions_have_an_end_where_their_density_has_vanished(backend):
    """Slopes by parameters never converged where squares of these are no numbers."""
    home = core.backend.get(backend)
    x = np.array([1e-100, 1e-8, 0.1, 0.5, 0.9])
    for a, b in ((0.3, 1e300), (2.0, 1e160), (1e160, 2.0)):
        given = [core.Variable(home.asarray(np.broadcast_to(y, 5) + 0.0)) for y in (a, b, x)]
        low = Betainc.call(*given)
        gone = x > 1e-50 if b > a else x > 0
        assert (home.to_host(low.array)[gone] == (b > a)).all()
        for gradient in core.grad([F.sum(low)], given):
            assert (home.to_host(gradient.array)[gone] == 0).all()
        assert np.isfinite(home.to_host(D.Beta(*given[:2]).icdf(given[2]).array)).all()


def test_students_tails_far_out():
    """From 1e100 on they were those at 1e100; they are powers there."""
    df, t = (x.ravel() for x in np.meshgrid([0.02, 0.1, 0.5, 1.0, 1.5], [1e9, 1e99, 1e120, 1e190]))

    def tail(df):
        size = np.log(t / np.sqrt(df))
        return np.exp(-df * size - np.log(df) - special.betaln(0.5 * df, 0.5))

    given, point = core.Variable(df), core.Variable(t)
    d = D.StudentT(given)
    for y in (d.survival_function(point), d.cdf(-point)):
        np.testing.assert_allclose(y.array, tail(df), rtol=1e-11)
        slope, density = (g.array for g in core.grad([F.sum(y)], [given, point]))
        step = 1e-6 * df
        expected = (tail(df + step) - tail(df - step)) / (2 * step)
        np.testing.assert_allclose(slope, expected, rtol=1e-4)
        np.testing.assert_allclose(-density, df * tail(df) / t, rtol=1e-11)
    np.testing.assert_allclose(d.icdf(tail(df)).array, -t, rtol=1e-11)


def test_points_of_probabilities_below_1e_300():
    """They were below all that one may draw, by hundreds of digits."""
    p = np.array([1e-299, 1e-301, 1e-306, 3e-308])
    np.testing.assert_allclose(D.Gamma(np.ones(4), 2.0).icdf(p).array, 2 * p, rtol=1e-9)
    np.testing.assert_allclose(D.Beta(np.full(4, 3.0), 2.0).icdf(p).array, np.cbrt(p / 4))
    np.testing.assert_allclose(D.StudentT(np.full(4, 2.0)).icdf(p).array, -np.sqrt(0.5 / p))
    expected = special.gammaincinv(300.0, p)
    np.testing.assert_allclose(D.Gamma(np.full(4, 300.0), 1.0).icdf(p).array, expected, rtol=1e-9)


def test_draws_of_tiny_parameters():
    """Of which both gamma draws are below all numbers."""
    core.seed(0)
    a = np.full(4000, 0.004, "f")
    drawn = D.Beta(a, 2 * a).sample().array
    core.seed(None)
    assert (drawn > 0).all() and ((drawn > 0.4) & (drawn < 0.6)).mean() < 0.01
    assert abs(drawn.mean() - 1 / 3) < 0.03
    alpha = core.Variable(np.full((2000, 3), 0.004, "f"))
    core.seed(0)
    shares = D.Dirichlet(alpha).sample()
    core.seed(None)
    assert (shares.array > 0).all() and (shares.array.max(axis=1) > 0.6).mean() > 0.98
    F.sum(shares * shares).backward()
    assert np.isfinite(alpha.grad).all()


def test_derivatives_of_logarithms_of_draws():
    k = np.array([0.002, 0.5, 3.0])
    for log_x in (np.array([-900.0, -3.0, 1.0]), np.array([-0.1, 0.5, 2.0])):
        x = np.exp(log_x)
        found = GammaSlope(of_logs=True).evaluate(k, log_x)
        plain = GammaSlope().evaluate(k[1:], x[1:])
        np.testing.assert_allclose(found[1:], plain / x[1:], rtol=1e-12)
    # Of tiny draws: k log x - log Γ(k + 1) is log P.
    expected = (special.digamma(1.002) + 900.0) / 0.002
    found = GammaSlope(of_logs=True).evaluate(k[:1], np.array([-900.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nan_stays():
    point = np.full(1, np.nan)
    for d in (
        D.Beta(np.ones(1), 2.0),
        D.Exponential(np.ones(1)),
        D.Gamma(np.ones(1), 2.0),
        D.Geometric(np.full(1, 0.5)),
        D.LogNormal(np.ones(1), 2.0),
        D.Pareto(np.ones(1), 2.0),
        D.Poisson(np.ones(1)),
        D.Uniform(np.zeros(1), 2.0),
    ):
        for name in ("log_prob", "cdf", "survival_function", "log_cdf"):
            assert np.isnan(getattr(d, name)(point).array).all(), (d, name)


def test_incomplete_functions_are_in_the_words_of_the_standard():
    for op, *values in [
        (Gammainc, 2.0, 3.0),
        (Gammaincinv, 2.0, 0.5),
        (Betainc, 2.0, 0.5, 0.25),
        (Betaincc, 2.0, 0.5, 0.25),
        (Betaincinv, 2.0, 0.5, 0.25),
    ]:
        for backend in (core.backend.get("strict"), core.backend.get("numpy")):
            arrays = [backend.asarray(np.full(2, x)) for x in values]
            found = backend.to_host(op.call(*[core.Variable(x) for x in arrays]).array)
            expected = getattr(special, op.__name__.lower())(*values)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    half = Gammainc.call(np.full(2, 2, "float16"), np.full(2, 3, "float16"))
    assert half.dtype == "float16"


@pytest.mark.parametrize("df", [0.5, 3.0, 1e7])
def test_students_functions_are_in_the_words_of_the_standard(df):
    p = [0.0, 0.25, 0.5, 0.9, 1.0, 1.5]
    for backend in (core.backend.get("strict"), core.backend.get("numpy")):

        def on(values, backend=backend):
            return core.Variable(backend.asarray(np.array(values)))

        d = D.StudentT(on([df] * len(p)))
        x = d.icdf(on(p))
        expected = special.stdtrit(df, p[1:-2])
        np.testing.assert_allclose(backend.to_host(x.array)[1:-2], expected, rtol=1e-8)
        found = backend.to_host(d.cdf(x).array)
        np.testing.assert_allclose(found, [*p[:-1], np.nan], rtol=1e-8)


def test_draws_are_in_the_words_of_the_standard():
    strict = core.backend.get("strict")

    def on(make, *values):
        return make(*[core.Variable(strict.asarray(np.full((2, 3), x))) for x in values])

    for d in (
        on(D.Gamma, 0.5, 2.0),
        on(D.Poisson, 30.0),
        on(D.Binomial, 60.0, 0.5),
        on(D.NegativeBinomial, 2.0, 0.3),
        on(D.Beta, 2.0, 0.5),
        on(D.StudentT, 2.0, 0.0, 1.0),
    ):
        x = d.sample(4)
        assert x.shape == d.log_prob(x).shape == (4, 2, 3)
        assert x.backend is strict
        if type(d) is not D.StudentT:
            assert abs(strict.to_host(D.kl_divergence(d, d).array)).max() < 1e-9


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_draws_of_no_distributions(shape):
    of = np.ones(shape)
    for d in (D.Gamma(of, 1.0), D.Poisson(30 * of), D.Binomial(99, 0.5 * of)):
        assert d.sample(3).shape == (3, *shape) and d.sample(0).shape == (0, *shape)


def test_poisson_counts_what_is_not_above():
    d, reference = D.Poisson(np.array(4.0)), S.poisson(4)
    x = np.array([-3, -0.5, 0, 0.5, 1, 7, 30])
    np.testing.assert_allclose(d.cdf(x).array, reference.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(d.survival_function(x).array, reference.sf(x), rtol=1e-9)
    ends = np.array([-np.inf, np.inf])
    np.testing.assert_array_equal(d.cdf(ends).array, [0, 1])
    np.testing.assert_array_equal(d.survival_function(ends).array, [1, 0])
    many = D.Poisson(np.array([1e10])).sample(3).array
    assert many.dtype == "int64" and (abs(many - 1e10) < 1e6).all()


def test_dirichlet_has_no_cumulative_function():
    for name in ("cdf", "log_cdf", "icdf"):
        with pytest.raises(NotImplementedError, match="Dirichlet has no i?cdf in closed form"):
            getattr(D.Dirichlet(np.ones(3)), name)(np.ones(3) / 3)


def test_what_stands_above_the_diagonal_is_not_looked_at():
    full = core.Variable(np.array([[2.0, 5.0], [1.0, 3.0]]))
    d = D.MultivariateNormal(np.zeros(2), full)
    np.testing.assert_array_equal(d.covariance.array, [[4, 2], [2, 10]])
    d.log_prob(np.ones(2)).backward()
    assert full.grad[0, 1] == 0 and (full.grad[np.tril_indices(2)] != 0).all()


def test_outside_of_the_support():
    for d, x in [
        (D.Gamma(np.ones(1), 2.0), -1.0),
        (D.Uniform(np.zeros(1), 1.0), 2.0),
        (D.Poisson(np.ones(1)), 0.5),
        (D.Bernoulli(np.full(1, 0.5), binary_check=True), 0.5),
    ]:
        assert d.log_prob(np.array([x])).array[0] == -np.inf
    loc = core.Variable(np.zeros(1))
    D.LogNormal(loc, 1.0).log_prob(np.array([-1.0])).backward()
    assert loc.grad == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bernoulli_of_what_is_certain():
    certain = D.Bernoulli(np.array([0.0, 1.0]))
    found = certain.log_prob(np.array([[0, 1], [1, 0]])).array
    np.testing.assert_array_equal(found, [[0, 0], [-np.inf, -np.inf]])
    np.testing.assert_array_equal(certain.entropy.array, [0, 0])
    other = D.Bernoulli(np.array([0.5, 1.0]))
    np.testing.assert_allclose(D.kl_divergence(certain, other).array, [np.log(2), 0])
    np.testing.assert_allclose(D.kl_divergence(other, certain).array, [np.inf, 0])


@pytest.mark.parametrize("shape", [(), (2,), (0,)])
@pytest.mark.parametrize("name", ["p", "logit"])
def test_modes_of_bernoulli_distributions(name, shape):
    for value, mode in {0.75: 1, 0.25: 0}.items():
        given = np.full(shape, value if name == "p" else np.log(value / (1 - value)), "f")
        found = D.Bernoulli(**{name: given}).mode
        assert (found.shape, found.dtype) == (shape, given.dtype)
        assert np.array_equal(found.array, np.full(shape, mode))


def test_bad_arguments():
    with pytest.raises(ValueError, match="Bernoulli: expected p or logit, got both"):
        D.Bernoulli(0.5, 0.5)
    with pytest.raises(ValueError, match="low and high, got loc and high"):
        D.Uniform(loc=0.0, high=1.0)
    with pytest.raises(core.errors.InvalidType, match="scale_tril"):
        D.MultivariateNormal(np.zeros(2), np.eye(3))
    with pytest.raises(NotImplementedError, match="Cauchy has no mean in closed form"):
        _ = D.Cauchy(np.zeros(1), 1.0).mean


class _Shares(D.Normal):
    """Draws one number for all distributions of a batch."""

    def sample_n(self, n):
        one = D.Normal(np.zeros(()), np.ones(())).sample_n(n).array
        return self.loc + self.scale * one.reshape(n, *[1] * len(self.batch_shape))


class _Unseeded(D.Normal):
    def sample_n(self, n):
        drawn = np.random.default_rng().normal(size=(n, *self.batch_shape))
        return self.loc + self.scale * drawn


@pytest.mark.parametrize(
    ("faulty", "told"), [(_Shares, "of a batch depend"), (_Unseeded, "core.seed alone")]
)
def test_draws_that_depend_on_others_or_on_no_seed_are_found(faulty, told):
    with pytest.raises(AssertionError, match=told):
        check_distribution(faulty, S.norm, params=PLACED, examples=1)
