"""Losses of words among others that are drawn."""

import numpy as np
import pytest
from scipy import special

import core
import core.functions as F
from core import Variable
from core.compat.utils import WalkerAlias
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)
X, W = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(6, 3))
T, SAMPLES = np.array([0, 5, -1, 2]), RANDOM.integers(0, 6, (4, 5))


def given(shape):
    """The samples, after a column that the right words take the place of."""
    assert shape == (4, 6)
    return np.concatenate([np.zeros((4, 1), int), SAMPLES], axis=1)


@pytest.mark.parametrize("reduce", ["sum", "no"])
def test_negative_sampling(reduce):
    def loss(x, W):
        return F.negative_sampling(x, T, W, given, 5, reduce)

    each = [
        -special.log_expit(W[t] @ x) - sum(special.log_expit(-W[j] @ x) for j in samples)
        if t != -1
        else 0.0
        for x, t, samples in zip(X, T, SAMPLES, strict=True)
    ]
    y = loss(X, W)
    np.testing.assert_allclose(y.array, each if reduce == "no" else np.sum(each))
    g = RANDOM.normal(size=y.shape)
    check_backward(loss, (X, W), g)
    seeds = RANDOM.normal(size=X.shape), RANDOM.normal(size=W.shape)
    check_double_backward(loss, (X, W), g, seeds)


def test_negative_sampling_draws_from_its_sampler_and_shows_what_it_drew():
    sampler = WalkerAlias([0.0, 1.0, 0.0, 3.0, 0.0, 0.0])
    core.seed(0)
    try:
        loss, words = F.negative_sampling(X, T, W, sampler.sample, 400, return_samples=True)
    finally:
        core.seed(None)
    np.testing.assert_array_equal(words[:, 0], T)
    samples = words[:, 1:]
    assert samples.shape == (4, 400)
    assert set(samples.ravel().tolist()) == {1, 3}
    assert abs((samples == 3).mean() - 0.75) < 0.05  # four standard deviations
    again = F.negative_sampling(X, T, W, lambda shape: words, 400)
    assert again.array == loss.array


@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_black_out(reduce):
    t = np.abs(T)

    def loss(x, W):
        return F.black_out(x, t, W, SAMPLES, reduce)

    each = []
    for x, k, samples in zip(X, t, SAMPLES, strict=True):
        p = special.softmax([W[k] @ x, *[W[j] @ x for j in samples]])
        each.append(-np.log(p[0]) - sum(np.log(1 - q) for q in p[1:]))
    y = loss(X, W)
    np.testing.assert_allclose(y.array, each if reduce == "no" else np.mean(each))
    g = RANDOM.normal(size=y.shape)
    check_backward(loss, (X, W), g)
    seeds = RANDOM.normal(size=X.shape), RANDOM.normal(size=W.shape)
    check_double_backward(loss, (X, W), g, seeds)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_huge_products(dtype):
    x, table = Variable(np.ones((1, 1), dtype)), Variable(np.array([[1e4], [0], [-1e4]], dtype))
    one, samples = np.array([0]), np.array([[1, 2]])
    low = F.negative_sampling(x, one, table, lambda shape: np.array([[0, 1, 2]]), 2)
    np.testing.assert_allclose(low.array, np.log(2), rtol=1e-3)
    high = F.negative_sampling(x, np.array([2]), table, lambda shape: np.zeros(shape, int), 2)
    np.testing.assert_allclose(high.array, 3e4, rtol=1e-3)
    assert F.black_out(x, one, table, samples).array == 0
    wrong = F.black_out(x, np.array([1]), table, np.array([[0, 2]]))
    np.testing.assert_allclose(wrong.array, 2e4, rtol=1e-3)
    core.backward([low, high, wrong])
    assert wrong.dtype == dtype
    assert np.isfinite(x.grad).all()
    assert np.isfinite(table.grad).all()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="'sum' or 'no', got 'mean'"):
        F.negative_sampling(X, T, W, given, 5, reduce="mean")
    with pytest.raises(ValueError, match="'mean' or 'no'"):
        F.black_out(X, np.abs(T), W, SAMPLES, reduce="sum")
    with pytest.raises(InvalidType):
        F.negative_sampling(X[:, :2], T, W, given, 5)
    with pytest.raises(InvalidType, match=r"negative_sampling.*\n\n.*\(4, 6\)"):
        F.negative_sampling(X, T, W, lambda shape: SAMPLES, 5)
    with pytest.raises(InvalidType):
        F.black_out(X, np.abs(T), W[:, :2], SAMPLES)
