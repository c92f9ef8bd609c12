"""Mixtures of distributions against sums of SciPy's."""

import numpy as np
import pytest
import scipy.stats as S
from scipy import special

import core
import core.distributions as D
from core.testing import check_distribution


class Mixture:
    """Two normal distributions and what is known of their mixture."""

    def __init__(self, mixing, loc, scale):
        self._p, self._parts = mixing, [S.norm(m, s) for m, s in zip(loc, scale, strict=True)]

    def _mean_of(self, of):
        return sum([p * of(part) for p, part in zip(self._p, self._parts, strict=True)])

    def pdf(self, x):
        return self._mean_of(lambda part: part.pdf(x))

    def logpdf(self, x):
        return np.log(self.pdf(x))

    def cdf(self, x):
        return self._mean_of(lambda part: part.cdf(x))

    def sf(self, x):
        return self._mean_of(lambda part: part.sf(x))

    def logcdf(self, x):
        return np.log(self.cdf(x))

    def logsf(self, x):
        return np.log(self.sf(x))

    def mean(self):
        return self._mean_of(lambda part: part.mean())

    def var(self):
        return self._mean_of(lambda part: part.var() + part.mean() ** 2) - self.mean() ** 2


class Mixed(D.MixtureSameFamily):
    def __init__(self, mixing, loc, scale):
        super().__init__(D.Categorical(mixing), D.Normal(loc, scale))
        self._params = {"mixing": self.mixing.p, **self.components.params}


def test_mixtures():
    pair = {
        "mixing": lambda rng: rng.dirichlet([3, 3]),
        "loc": lambda rng: rng.normal(size=2),
        "scale": lambda rng: rng.uniform(0.5, 2, 2),
    }
    points = lambda rng, frozen: rng.normal()  # noqa: E731
    check_distribution(Mixed, Mixture, params=pair, points=points, examples=6)


def test_mixtures_of_vectors_and_of_counts():
    rng = np.random.default_rng(0)
    loc, p = rng.normal(size=(2, 3, 4)), rng.dirichlet(np.ones(3), 2)
    parts = D.Independent(D.Normal(loc, np.ones((2, 3, 4))), 1)
    d = D.MixtureSameFamily(D.Categorical(p), parts)
    assert (d.batch_shape, d.event_shape, d.sample((5, 6)).shape) == ((2,), (4,), (5, 6, 2, 4))
    np.testing.assert_allclose(d.mean.array, (p[..., None] * loc).sum(1))
    x = rng.normal(size=(7, 2, 4))
    each = S.norm.logpdf(x[:, :, None], loc, 1).sum(-1) + np.log(p)
    np.testing.assert_allclose(d.log_prob(x).array, special.logsumexp(each, axis=-1))
    counts = D.MixtureSameFamily(D.Categorical(logit=np.zeros(2)), D.Poisson(np.array([1.0, 9.0])))
    assert counts.sample(9).dtype == "int64" and counts.mean.array == 5
    expected = (S.poisson.pmf(2, 1) + S.poisson.pmf(2, 9)) / 2
    np.testing.assert_allclose(counts.prob(2).array, expected)
    sure = core.Variable(np.array([1.0, 0.0]))
    D.MixtureSameFamily(D.Categorical(sure), D.Exponential(np.ones(2))).log_prob(-1.0).backward()
    assert np.isfinite(sure.grad).all()
    with pytest.raises(TypeError, match="mixing to be a Categorical, got Normal"):
        D.MixtureSameFamily(D.Normal(0.0, 1.0), parts)
    with pytest.raises(ValueError, match=r"batch shape \(2, 3\).* got \(3,\)"):
        D.MixtureSameFamily(D.Categorical(p), D.Poisson(np.ones(3)))
