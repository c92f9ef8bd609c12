"""Random functions: what their draws are distributed by, and that given draws decide."""

import numpy as np
import pytest

import core
import core.functions as F


@pytest.fixture
def seeded():
    core.seed(7)
    yield
    core.seed(None)


def test_dropout_keeps_the_mean_and_drops_its_share(seeded):
    y = F.dropout(np.ones(100_000), ratio=0.3).array
    assert abs(np.mean(y == 0) - 0.3) < 0.01
    np.testing.assert_allclose(y[y != 0], 1 / 0.7)


def test_zoneout_takes_each_element_from_one_of_the_two(seeded):
    h, x = np.zeros(100_000), np.ones(100_000)
    y = F.zoneout(h, x, ratio=0.3).array
    assert set(np.unique(y)) == {0.0, 1.0}
    assert abs(np.mean(y) - 0.7) < 0.01
    with core.using_config("train", False):
        np.testing.assert_array_equal(F.zoneout(h, x, ratio=0.3).array, x)


def test_zoneout_with_a_mask_is_a_choice():
    mask = np.array([True, False])
    y = F.zoneout(np.array([1.0, 2.0]), np.array([3.0, 4.0]), mask=mask)
    np.testing.assert_array_equal(y.array, [1.0, 4.0])
    with pytest.raises(core.type_check.InvalidType, match="Zoneout"):
        F.zoneout(np.ones(3), np.ones(3), mask=mask)


def test_gaussian_has_the_mean_and_variance_asked_for(seeded):
    y = F.gaussian(np.full(100_000, 2.0), np.full(100_000, np.log(9.0))).array
    assert abs(y.mean() - 2) < 0.05
    assert abs(y.std() - 3) < 0.05


def test_gaussian_gives_its_draw_for_another_time(seeded):
    mean, ln_var = np.ones((2, 3), "f"), np.zeros((2, 3), "f")
    y, eps = F.gaussian(mean, ln_var, return_eps=True)
    np.testing.assert_array_equal(y.array, mean + eps)
    np.testing.assert_array_equal(F.gaussian(mean, ln_var, eps=eps).array, y.array)


def test_gumbel_softmax_draws_classes_by_their_probabilities(seeded):
    pi = np.array([0.1, 0.2, 0.7])
    y = F.gumbel_softmax(np.tile(np.log(pi), (50_000, 1)), tau=0.5).array
    np.testing.assert_allclose(y.sum(axis=1), 1)
    shares = np.bincount(y.argmax(axis=1)) / len(y)
    np.testing.assert_allclose(shares, pi, atol=0.01)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gumbel_softmax_keeps_the_dtype_and_the_axis(dtype):
    y = F.gumbel_softmax(np.zeros((2, 3, 4), dtype), axis=2)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array.sum(axis=2), 1, rtol=2e-3)
    with pytest.raises(ValueError, match="tau above 0"):
        F.gumbel_softmax(np.zeros((2, 3), dtype), tau=0)


@pytest.mark.parametrize("batchwise", [True, False])
def test_dropconnect_by_a_mask_is_a_product_with_masked_weights(batchwise):
    draw = np.random.default_rng(0)
    x, W, b = draw.normal(size=(3, 2, 2)), draw.normal(size=(5, 4)), draw.normal(size=5)
    mask = draw.integers(0, 2, (3, 5, 4) if batchwise else (5, 4)) == 1
    y = F.simplified_dropconnect(x, W, b, ratio=0.2, mask=mask).array
    expected = [
        (W * (mask[i] if batchwise else mask)) @ row / (1 - 0.2) + b
        for i, row in enumerate(x.reshape(3, 4))
    ]
    np.testing.assert_allclose(y, expected, rtol=1e-12)


@pytest.mark.parametrize("batchwise", [True, False])
def test_dropconnect_drops_its_share_and_keeps_the_mean(seeded, batchwise):
    x, W = np.ones((300, 1)), np.ones((300, 1))
    y = F.simplified_dropconnect(x, W, ratio=0.25, use_batchwise_mask=batchwise).array
    assert abs(np.mean(y == 0) - 0.25) < 0.1
    np.testing.assert_allclose(y[y != 0], 1 / 0.75)
    assert np.all(y == y[0]) != batchwise


def test_dropconnect_out_of_training_is_linear():
    x, W = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
    y = F.simplified_dropconnect(x, W, train=False)
    np.testing.assert_array_equal(y.array, F.linear(x, W).array)


def test_given_draws_of_other_shapes_are_refused():
    x, W = np.ones((2, 3)), np.ones((4, 3))
    InvalidType = core.type_check.InvalidType
    with pytest.raises(InvalidType, match=r"mean\.shape\[1\] == 1"):
        F.gaussian(x, x, eps=np.ones((2, 1)))
    with pytest.raises(InvalidType, match="mean.ndim == 1"):
        F.gaussian(x, x, eps=np.ones(3))
    for mask in (np.ones((4, 1)), np.ones((1, 4, 3))):
        with pytest.raises(InvalidType, match="SimplifiedDropconnect"):
            F.simplified_dropconnect(x, W, mask=mask)
    with pytest.raises(ValueError, match=r"got \(3,\)"):
        F.simplified_dropconnect(x, W, mask=np.ones(3))


def test_ratios_out_of_range_are_refused():
    x, W = np.ones((2, 2)), np.ones((2, 2))
    for call in (
        lambda: F.dropout(x, ratio=1.0),
        lambda: F.zoneout(x, x, ratio=1.5),
        lambda: F.simplified_dropconnect(x, W, ratio=1.0),
    ):
        with pytest.raises(ValueError, match="expected a ratio in"):
            call()
    with pytest.raises(ValueError, match="train"):
        F.zoneout(x, x, train=False)


def test_rrelu_draws_its_factors_from_the_interval(seeded):
    x = np.full(100_000, -1.0)
    y, r = F.rrelu(x, 0.2, 0.4, return_r=True)
    np.testing.assert_array_equal(y.array, -r)
    assert 0.2 <= r.min() < 0.201 < 0.399 < r.max() <= 0.4
    assert abs(r.mean() - 0.3) < 0.002
    assert abs(r.var() - 0.2**2 / 12) < 1e-4


def test_rrelu_with_factors_and_out_of_training():
    x, r = np.array([-2.0, 0.0, 3.0]), np.array([0.5, 0.25, 0.125])
    np.testing.assert_array_equal(F.rrelu(x, r=r).array, [-1.0, 0.0, 3.0])
    with core.using_config("train", False):
        y, mean = F.rrelu(x, 0.1, 0.3, r=r, return_r=True)
    np.testing.assert_allclose(y.array, [-0.4, 0.0, 3.0])
    np.testing.assert_allclose(mean, 0.2)


def test_rrelu_refuses_other_factors_and_empty_intervals():
    x, InvalidType = np.ones((2, 3), "f"), core.type_check.InvalidType
    with pytest.raises(InvalidType, match="RReLU"):
        F.rrelu(x, r=np.ones((2, 1), "f"))
    with pytest.raises(InvalidType, match="RReLU"):
        F.rrelu(x, r=np.ones((2, 3), "d"))
    with pytest.raises(ValueError, match="l <= u"):
        F.rrelu(x, 0.5, 0.25)
    with pytest.raises(ValueError, match="train"):
        F.rrelu(x, train=False)
