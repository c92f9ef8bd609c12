"""Measures where something is missing: classes, examples, variance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from core import Variable
from core.errors import InvalidType

SCORES = np.eye(3)[[0, 0, 1, 2, 2, 2]]  # what is guessed
T = np.array([0, 1, 1, 2, 0, -1])


def test_summary_by_hand():
    precision, recall, fbeta, support = F.classification_summary(SCORES, T, beta=2.0)
    np.testing.assert_allclose(precision.array, [1 / 2, 1, 1 / 2])
    np.testing.assert_allclose(recall.array, [1 / 2, 1 / 2, 1])
    np.testing.assert_allclose(fbeta.array, [1 / 2, 5 / 9, 5 / 6])
    np.testing.assert_array_equal(support.array, [2, 2, 1])
    for name, first in (("precision", precision), ("recall", recall)):
        one, count = getattr(F, name)(SCORES, T)
        np.testing.assert_array_equal(one.array, first.array)
        np.testing.assert_array_equal(count.array, support.array)
    np.testing.assert_allclose(F.f1_score(SCORES, T)[0].array, [1 / 2, 2 / 3, 2 / 3])


def test_shares_of_nothing_are_nan():
    t = np.array([1, 0])
    precision, recall, fbeta, support = F.classification_summary(SCORES[[0, 2]], t, label_num=4)
    nan = np.nan
    np.testing.assert_array_equal(precision.array, [0, 0, nan, nan])
    np.testing.assert_array_equal(recall.array, [0, 0, nan, nan])
    np.testing.assert_array_equal(fbeta.array, [nan] * 4)
    np.testing.assert_array_equal(support.array, [1, 1, 0, 0])


def test_classes_beyond_those_told_of_and_none():
    found, support = F.precision(SCORES, T, label_num=1)
    assert found.array.tolist() == [0.5]
    assert support.array.tolist() == [2]
    assert [y.shape for y in F.classification_summary(SCORES[:0], T[:0])] == [(0,)] * 4
    assert F.recall(SCORES, np.full(6, -1))[0].shape == (0,)


def test_scores_with_axes_of_length_one_and_with_places():
    one, _ = F.f1_score(SCORES[:, :, None, None], T)
    np.testing.assert_array_equal(one.array, F.f1_score(SCORES, T)[0].array)
    places = SCORES.reshape(2, 3, 3).swapaxes(1, 2)
    same, _ = F.f1_score(places, T.reshape(2, 3))
    np.testing.assert_array_equal(same.array, one.array)


@given(seed=st.integers(0, 99), k=st.integers(1, 6), shape=st.sampled_from([(7,), (2, 3, 2)]))
def test_accuracy_of_the_greatest_scores(seed, k, shape):
    drawn = np.random.default_rng(seed)
    y = drawn.permuted(np.arange(4.0).repeat(np.prod(shape)).reshape(4, -1), axis=0)
    y, t = y.reshape(4, *shape).swapaxes(0, 1), drawn.integers(0, 4, shape)
    ranks = (-y).argsort(axis=1).argsort(axis=1)
    own = np.take_along_axis(ranks, t[:, None], axis=1)[:, 0]
    assert F.accuracy(y, t, top_k=k).array == (own < k).mean()
    assert F.accuracy(y, t, 3, top_k=k).array == np.append((own < k)[t != 3], []).sum() / max(
        (t != 3).sum(), 1
    )


def test_equal_scores_and_nan_are_in_the_order_of_the_greatest():
    y = np.array([[1, 1, 1, 0], [0, np.nan, 2, 2], [np.nan] * 4], "f")
    for k, shares in ((1, [1, 0, 0, 0]), (2, [1, 1, 0, 0]), (3, [1, 1, 1, 0])):
        found = [F.accuracy(y[:1], np.array([t]), top_k=k).array for t in range(4)]
        assert found == shares
    assert F.accuracy(y[1:], np.array([2, 3]), top_k=2).array == 0.5
    assert F.accuracy(y[:1], np.array([7]), top_k=3).array == 0
    with pytest.raises(ValueError, match="accuracy: expected top_k of 1 or more, got 0"):
        F.accuracy(y, np.zeros(3, int), top_k=0)


def test_the_summary_has_no_gradient():
    outputs = F.classification_summary(Variable(SCORES), T)
    assert not any(y.requires_grad for y in outputs)


def test_r2_score_of_constant_truth():
    pred = Variable(np.array([[1.0, 2.0], [2.0, 2.0]]))
    true = np.array([[1.0, 5.0], [3.0, 5.0]])
    np.testing.assert_array_equal(F.r2_score(pred, true, multioutput="raw_values").array, [0.5, 0])
    loss = F.r2_score(pred, true)
    assert loss.array == 0.25
    loss.backward()
    np.testing.assert_array_equal(pred.grad, [[0, 0], [0.5, 0]])
    assert F.r2_score(pred[:0], true[:0]).array == 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("value", [0.1, 0.7, 1.1, 3.3])
def test_r2_score_of_constant_truth_whose_sum_is_rounded(value, dtype):
    for n in (3, 7, 10, 11, 100):
        pred, true = Variable(np.zeros(n, dtype)), np.full(n, value, dtype)
        score = F.r2_score(pred, true, np.linspace(0.1, 0.7, n).astype(dtype))
        score.backward()
        assert score.array == F.r2_score(pred, true).array == 0
        np.testing.assert_array_equal(pred.grad, 0)


def test_weights_count_as_repetitions():
    pred, true = np.random.default_rng(0).normal(size=(2, 4))
    weighted = F.r2_score(pred, true, sample_weight=np.array([1.0, 2.0, 3.0, 0.0]))
    rows = [0, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(weighted.array, F.r2_score(pred[rows], true[rows]).array)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidType, match="ClassificationSummary"):
        F.precision(SCORES, T[:2])
    with pytest.raises(InvalidType, match="R2Score"):
        F.r2_score(SCORES, SCORES[:2])
    with pytest.raises(InvalidType, match="R2Score"):
        F.r2_score(SCORES, SCORES, np.ones(2))
    with pytest.raises(ValueError, match="'uniform_average' or 'raw_values'"):
        F.r2_score(SCORES, SCORES, multioutput="variance_weighted")


@given(st.integers(0, 12), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.none() | st.integers(0, 4))
def test_boxes_stand_for_those_that_they_cover(n, threshold, limit):
    """Against whole numbers of elements of a grid that boxes have in common."""
    random = np.random.default_rng(n)
    low = random.integers(0, 5, (n, 2))
    boxes = np.concatenate([low, low + random.integers(0, 4, (n, 2))], axis=1)
    scores = random.integers(0, 5, n).astype("uint8")  # of which some are equal
    masks = np.zeros((n, 9, 9), bool)
    for mask, (y, x, end, right) in zip(masks, boxes, strict=True):
        mask[y:end, x:right] = True
    chosen = []
    for i in sorted(range(n), key=lambda i: -int(scores[i])):
        shared = [(masks[i] & masks[j]).sum() for j in chosen]
        either = [(masks[i] | masks[j]).sum() for j in chosen]
        if all([a <= threshold * b for a, b in zip(shared, either, strict=True)]):
            chosen.append(i)
    found = F.non_maximum_suppression(boxes, threshold, scores, limit)
    assert found.array.tolist() == chosen[:limit] and found.dtype == np.int64
    ordered = F.non_maximum_suppression(boxes[np.argsort(-scores.astype(int), kind="stable")], 1)
    assert ordered.array.tolist() == [*range(n)]


def test_boxes_and_scores_of_other_shapes_are_refused():
    with pytest.raises(InvalidType, match=r"boxes.shape\[1\] == 4\nActual: 5 != 4"):
        F.non_maximum_suppression(np.zeros((2, 5)), 0.5)
    with pytest.raises(InvalidType, match=r"scores.shape == boxes.shape\[:1\]"):
        F.non_maximum_suppression(np.zeros((2, 4)), 0.5, np.zeros((2, 1)))
    with pytest.raises(core.errors.InvalidSetting, match=r"threshold to be a number in \[0, 1\]"):
        F.non_maximum_suppression(np.zeros((2, 4)), 50)
