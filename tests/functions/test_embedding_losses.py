"""Losses of distances, distributions and clusters, where it hurts."""

import itertools

import numpy as np
import pytest

import core.functions as F
from core import Variable
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)
clustering = F.discriminative_margin_based_clustering_loss


@pytest.mark.parametrize("alike", [0, 1])
def test_contrastive_of_equal_vectors(alike):
    x0, x1 = Variable(np.ones((1, 3), "f")), Variable(np.ones((1, 3), "f"))
    loss = F.contrastive(x0, x1, np.array([alike]), margin=2)
    assert loss.array == (0 if alike else 2)
    loss.backward(enable_double_backprop=True)
    assert not x0.grad.any()
    assert not x1.grad.any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_likelihoods_at_extremes(dtype):
    ln_var = Variable(np.array([-80, 0, 80], dtype))
    zero = np.zeros(3, dtype)
    nll = F.gaussian_nll(zero, zero, ln_var, reduce="no")
    np.testing.assert_allclose(nll.array, np.array([-40, 0, 40]) + np.log(2 * np.pi) / 2, rtol=1e-3)
    F.sum(nll).backward()
    np.testing.assert_array_equal(ln_var.grad, [0.5, 0.5, 0.5])
    y = Variable(np.array([3e4, -3e4, 3e4, -3e4], dtype))
    bits = np.array([1, 0, 0, 1], dtype)
    loss = F.bernoulli_nll(bits, y, reduce="no")
    np.testing.assert_allclose(loss.array, [0, 0, 3e4, 3e4], rtol=1e-3)
    F.sum(loss).backward()
    np.testing.assert_array_equal(y.grad, [0, 0, 1, -1])


def test_a_small_divergence_is_not_lost_in_rounding():
    ln_var = np.float32(2e-3)
    tiny = F.gaussian_kl_divergence(np.zeros(1, "f"), np.array([ln_var]))
    np.testing.assert_allclose(tiny.array, 1e-6, rtol=2e-3)


@pytest.mark.parametrize("function", [F.gaussian_nll, F.gaussian_kl_divergence, F.bernoulli_nll])
def test_reductions(function):
    inputs = RANDOM.random((3, 2, 4))[: 3 if function is F.gaussian_nll else 2]
    each = function(*inputs, reduce="no").array
    assert each.shape == (2, 4)
    np.testing.assert_allclose(function(*inputs).array, each.sum())
    np.testing.assert_allclose(function(*inputs, reduce="mean").array, each.mean())
    with pytest.raises(ValueError, match="'sum', 'mean' or 'no'|Did you mean 'mean'"):
        function(*inputs, reduce="maen")


def test_means_of_many_narrow_losses_do_not_overflow():
    x = np.full(20_000, 4, "float16")
    loss = F.gaussian_kl_divergence(x, 0 * x, reduce="mean")
    assert loss.array == 8
    assert F.gaussian_kl_divergence(x[:0], x[:0], reduce="mean").array == 0


def clusters(x, labels, delta_v, delta_d, count, norm):
    """The three terms, pixel by pixel and pair by pair."""

    def length(v):
        return np.linalg.norm(np.ravel(v), norm)

    n = len(x)
    pixels = [[x[i][:, labels[i] == c] for i in range(n)] for c in range(1, count + 1)]
    means = [[p.mean(axis=1) if p.size else np.zeros(count) for p in each] for each in pixels]
    variance = 0.0
    for each, mean in zip(pixels, means, strict=True):
        excess = [
            max(length(v - m) - delta_v, 0) ** 2
            for p, m in zip(each, mean, strict=True)
            for v in p.T
        ]
        variance += np.mean(excess) / count if excess else 0
    short = [
        max(2 * delta_d - length(a[i] - b[i]), 0) ** 2
        for a, b in itertools.combinations(means, 2)
        for i in range(n)
    ]
    return variance, np.mean(short) if short else 0, sum(map(length, means)) / (count * n)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("count", [1, 3])
def test_discriminative_clustering(norm, count):
    x = RANDOM.normal(size=(2, count, 3, 4))
    labels = RANDOM.integers(0, 3, (2, 3, 4))  # of three instances the last is missing
    settings = (0.3, 1.5, count, norm)
    found = clustering(x, labels, *settings)
    expected = np.array(clusters(x, labels, *settings)) * [1, 1, 0.001]
    np.testing.assert_allclose([y.array for y in found], expected)
    doubled = clustering(x, labels, *settings, alpha=2, beta=3, gamma=0.004)
    np.testing.assert_allclose([y.array for y in doubled], expected * [2, 3, 4])


@pytest.mark.parametrize("norm", [1, 2])
def test_gradients_of_discriminative_clustering(norm):
    x = RANDOM.normal(size=(2, 3, 2, 4))
    labels = RANDOM.integers(0, 3, (2, 2, 4))

    def loss(x):
        return clustering(x, labels, 0.3, 1.5, 3, norm, gamma=0.5)

    g = tuple(RANDOM.normal(size=(3,)))
    check_backward(loss, x, tuple(np.asarray(v) for v in g), eps=1e-5)
    check_double_backward(
        loss, x, tuple(np.asarray(v) for v in g), RANDOM.normal(size=x.shape), eps=1e-5
    )


def test_pixels_on_their_mean_and_no_pixels():
    x = Variable(np.ones((1, 2, 1, 3), "f"))
    for labels in ([[[1, 1, 2]]], [[[0, 0, 0]]]):
        losses = clustering(x, np.array(labels), 0.0, 1.0, 2, norm=2)
        x.cleargrad()
        F.sum(F.stack(losses)).backward()
        assert np.isfinite(x.grad).all()


def test_what_does_not_fit_is_refused():
    x, labels = np.zeros((1, 2, 3, 3)), np.zeros((1, 3, 3), int)
    with pytest.raises(ValueError, match="norm to be 1 or 2, got 3"):
        clustering(x, labels, 1, 1, 2, norm=3)
    with pytest.raises(ValueError, match="max_embedding_dim above 0"):
        clustering(x, labels, 1, 1, 0)
    with pytest.raises(InvalidType, match=r"embeddings.shape\[1\] == max_embedding_dim"):
        clustering(x, labels, 1, 1, 3)
    with pytest.raises(InvalidType, match=r"labels.shape == \(n, height, width\)"):
        clustering(x, labels[:, :2], 1, 1, 2)
    for function, inputs in ((F.contrastive, (x[0, 0],) * 2 + (labels[0, 0],)),):
        with pytest.raises(ValueError, match="margin above 0"):
            function(*inputs, margin=0)
    with pytest.raises(ValueError, match="margin above 0"):
        F.triplet(x[0, 0], x[0, 0], x[0, 0], margin=-1)
    with pytest.raises(InvalidType, match="Invalid operation is performed in: Triplet"):
        F.triplet(x[0, 0], x[0, 0], x[0, 0, :2])
    with pytest.raises(ValueError, match="'half_squared_sum' or 'no'"):
        F.decov(x[0, 0], reduce="mean")
    with pytest.raises(ValueError, match="'half_squared_sum' or 'no'"):
        F.cross_covariance(x[0, 0], x[0, 0], reduce="sum")
