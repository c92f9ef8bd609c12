"""scikit-learn's paths for arrays of the standard, on Variables."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_squared_error, r2_score
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances
from sklearn.preprocessing import LabelEncoder, MaxAbsScaler, MinMaxScaler, Normalizer

from core import Variable
from core.testing.gradient_check import check_backward

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(8, 3))
LABELS = np.array([0, 1, 1, 0, 1, 0, 0, 1])
GUESSES = np.array([0, 1, 0, 0, 1, 1, 0, 1])
TARGETS = RANDOM.normal(size=8)

SCORES = {
    "accuracy": lambda _: accuracy_score(_(LABELS), _(GUESSES)),
    "mean squared error": lambda _: mean_squared_error(_(TARGETS), _(TARGETS**2)),
    "mean absolute error": lambda _: mean_absolute_error(_(TARGETS), _(TARGETS**2)),
    "r2": lambda _: r2_score(_(TARGETS), _(TARGETS + 0.1)),
}
RESULTS = {
    "scale to a range": lambda _: MinMaxScaler().fit_transform(_(X)),
    "scale by size": lambda _: MaxAbsScaler().fit_transform(_(X)),
    "normalize": lambda _: Normalizer().fit_transform(_(X)),
    "principal components": lambda _: PCA(2, svd_solver="full").fit(_(X)).explained_variance_,
    "principal components by eigenvalues": lambda _: (
        PCA(2, svd_solver="covariance_eigh").fit(_(X)).explained_variance_
    ),
    "back from principal components": lambda _: _back(PCA(2, svd_solver="full").fit(_(X)), _(X)),
    "ridge regression": lambda _: Ridge(solver="svd").fit(_(X), _(TARGETS)).predict(_(X)),
    "discriminant analysis": lambda _: (
        LinearDiscriminantAnalysis(solver="svd").fit(_(X), _(LABELS)).predict(_(X))
    ),
    "cosine similarity": lambda _: cosine_similarity(_(X)),
    "distances": lambda _: euclidean_distances(_(X)),
    "labels": lambda _: LabelEncoder().fit_transform(_(LABELS)),
}


def _back(pca, x):
    return pca.inverse_transform(pca.transform(x))


@pytest.fixture(autouse=True)
def dispatching():
    with config_context(array_api_dispatch=True):
        yield


def constant(x):
    return Variable(x, requires_grad=False)


@pytest.mark.parametrize("name", SCORES)
def test_scores(name):
    expected = SCORES[name](lambda x: x)
    assert SCORES[name](constant) == pytest.approx(expected)


@pytest.mark.parametrize("name", RESULTS)
def test_estimators(name):
    actual = RESULTS[name](constant)
    assert isinstance(actual, Variable)
    np.testing.assert_allclose(actual.array, RESULTS[name](lambda x: x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: MinMaxScaler().fit_transform(x),
        lambda x: Normalizer().fit_transform(x),
        lambda x: PCA(2, svd_solver="full").fit(constant(X)).transform(x),
        lambda x: cosine_similarity(x),
    ],
    ids=["scale", "normalize", "components", "cosine"],
)
def test_gradients_flow_through(function):
    g = np.random.default_rng(2).normal(size=function(constant(X)).shape)
    check_backward(function, (X,), g, rtol=1e-4, atol=1e-5)
