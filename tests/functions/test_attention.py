"""Attention against loops over queries and keys."""

import math

import numpy as np
import pytest

import core
import core.functions as F
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)
Q, K, V = (RANDOM.normal(size=(2, 3, n, e)) for n, e in ((4, 5), (6, 5), (6, 2)))
TRUTH = RANDOM.random((4, 6)) < 0.6
TRUTH[2] = False
ADDED = RANDOM.normal(size=(2, 1, 4, 6))


def attention(q, k, v, mask=None, is_causal=False, scale=None):
    y = np.zeros((*q.shape[:-1], v.shape[-1]))
    mask = None if mask is None else np.broadcast_to(mask, (*q.shape[:-1], k.shape[-2]))
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    for index in np.ndindex(*q.shape[:-1]):
        *batch, i = index
        shares = []
        for j in range(k.shape[-2]):
            fit = scale * math.fsum(q[index] * k[(*batch, j)])
            added = 0 if mask is None or mask.dtype == bool else mask[(*index, j)]
            kept = (is_causal and j > i) or (
                mask is not None and mask.dtype == bool and not mask[(*index, j)]
            )
            shares.append(0 if kept else math.exp(fit + added))
        for j, share in enumerate(shares):
            y[index] += share / (sum(shares) or 1) * v[(*batch, j)]
    return y


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", [None, TRUTH, ADDED], ids=["free", "truth", "added"])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_is_the_weighted_mean(is_causal, mask, scale):
    def function(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal, scale=scale)

    y = function(Q, K, V)
    np.testing.assert_allclose(y.array, attention(Q, K, V, mask, is_causal, scale), atol=1e-12)
    g = RANDOM.normal(size=y.shape)
    check_backward(function, (Q, K, V), g)
    seeds = tuple(RANDOM.normal(size=x.shape) for x in (Q, K, V))
    check_double_backward(function, (Q, K, V), g, seeds)


def test_it_runs_on_what_the_standard_offers():
    strict = core.backend.get("strict")
    arrays = [strict.asarray(x) for x in (Q, K, V)]
    y = F.scaled_dot_product_attention(*arrays, strict.asarray(TRUTH), is_causal=True)
    np.testing.assert_allclose(strict.to_host(y.array), attention(Q, K, V, TRUTH, True), atol=1e-12)


def test_gradients_reach_an_added_mask():
    mask = core.Variable(ADDED.copy())
    F.sum(F.scaled_dot_product_attention(Q, K, V, mask)).backward()
    assert np.abs(mask.grad).max() > 0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_floats_stay_and_huge_products_do_no_harm(dtype):
    q = np.full((2, 3), 100, dtype)
    y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.array, q)


def test_dropout_spares_evaluation():
    def function():
        return F.scaled_dot_product_attention(Q, K, V, dropout_p=0.5).array

    with core.using_config("train", False):
        np.testing.assert_allclose(function(), attention(Q, K, V), atol=1e-12)
    assert np.abs(function() - attention(Q, K, V)).max() > 1e-3
    with pytest.raises(ValueError, match="ratio"):
        F.scaled_dot_product_attention(Q, K, V, dropout_p=1.5)


@pytest.mark.parametrize(
    ("q", "k", "v", "message"),
    [
        (Q[..., :4], K, V, r"query.shape\[-1\] == key.shape\[-1\]"),
        (Q, K[..., :5, :], V, r"key.shape\[-2\] == value.shape\[-2\]"),
        (Q[0, 0, 0], K, V, "query.ndim >= 2"),
        (Q.astype("f"), K, V, "dtype"),
    ],
)
def test_ill_fitting_input_is_refused(q, k, v, message):
    with pytest.raises(InvalidType, match=message):
        F.scaled_dot_product_attention(q, k, v)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1"])
def test_a_mask_of_numbers_for_truth_is_refused(dtype):
    """The cure was to make it floating, and so to add 0 and 1 to the scores."""
    with pytest.raises(InvalidType, match=r"Cure: write attn_mask\.astype\(bool\), where 0"):
        F.scaled_dot_product_attention(Q, K, V, attn_mask=TRUTH.astype(dtype))


@pytest.mark.parametrize("is_causal", [False, True])
def test_what_minus_infinity_keeps_from_all_keys_is_zero(is_causal):
    """As by truth values: the softmax of nothing was NaN, with the gradients of all queries."""
    hidden = np.where(TRUTH, 0.0, -np.inf)
    found = []
    for mask in (TRUTH, core.Variable(np.broadcast_to(hidden, (2, 1, 4, 6)))):
        inputs = [core.Variable(x) for x in (Q, K, V)]
        y = F.scaled_dot_product_attention(*inputs, mask, is_causal=is_causal)
        F.sum(y * y).backward()
        found.append([y.array, *[x.grad for x in inputs]])
    assert np.isfinite(mask.grad).all()
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    added = F.scaled_dot_product_attention(Q, K, V, np.array(-np.inf))
    np.testing.assert_array_equal(added.array, 0)


def test_very_bad_fits_in_half_precision_are_above_what_is_masked():
    q, k, v = (np.array([[a], [a]], "float16") for a in (200, -200, 3))
    mask = np.array([[True, False], [True, True]])
    y = F.scaled_dot_product_attention(q, k, v, mask, scale=1.0)
    np.testing.assert_array_equal(y.array, [[3], [3]])
