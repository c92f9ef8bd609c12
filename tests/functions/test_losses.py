"""Losses where it hurts: huge scores, nothing to count, weights, probabilities, wrong settings."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused_in_three_parts
from scipy import special

import core
import core.functions as F
from core import Variable
from core.errors import InvalidType
from core.testing.gradient_check import check_backward, check_double_backward

X = np.random.default_rng(0).normal(size=(4, 3))
T = np.array([0, 2, 1, 2])
LOGS = special.log_softmax(X, axis=1)


@pytest.mark.parametrize(
    ("loss", "activation"),
    [(F.softmax_cross_entropy, F.softmax), (F.sigmoid_cross_entropy, F.sigmoid)],
)
def test_an_activation_applied_twice_is_told(loss, activation):
    scores = core.Variable(np.ones((3, 3), "f"))
    t = np.eye(3, dtype="i") if loss is F.sigmoid_cross_entropy else np.arange(3)
    with pytest.warns(UserWarning, match=rf"come from {activation.__name__}\(\), which") as told:
        loss(activation(scores), t)
    assert told[0].filename == __file__
    loss(scores, t)
    loss(F.tanh(scores), t)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_huge_scores(dtype):
    x = Variable(np.array([[3e4, -3e4], [0, 3e4]], dtype))
    t = np.array([1, 1])
    loss = F.softmax_cross_entropy(x, t, reduce="no")
    assert loss.array.tolist() == [float(np.array(6e4, dtype)), 0.0]
    F.sum(F.softmax_cross_entropy(x, t)).backward()
    assert x.grad.tolist() == [[0.5, -0.5], [0, 0]]
    binary = F.sigmoid_cross_entropy(x, np.array([[1, 1], [0, 0]]), reduce="no")
    np.testing.assert_allclose(binary.array[0], [0, 3e4], rtol=1e-3)


@pytest.mark.parametrize("rows", [4, 1000])  # by the formula; by a loop, where there are loops
@example(20, "float32")
@example(12, "float32")
@given(exponent=st.integers(0, 24), dtype=st.sampled_from(["float32", "float64"]))
def test_what_all_scores_have_in_common_takes_nothing_from_losses_and_gradients(
    rows, exponent, dtype
):
    scores = np.random.default_rng(0).integers(-4, 4, (rows, 3)) * 2.0 ** max(0, exponent - 20)
    labels = np.arange(rows) % 3
    found = []
    for common in (0.0, 2.0**exponent):
        x = Variable((scores + common).astype(dtype))
        loss = F.softmax_cross_entropy(x, labels, reduce="no")
        F.sum(loss).backward()
        found += [loss.array, x.grad]
    np.testing.assert_allclose(found[2], found[0], rtol=1e-5)
    np.testing.assert_allclose(found[3], found[1], rtol=1e-5, atol=1e-7)


def test_infinite_scores_of_what_is_ignored_do_no_harm():
    x = np.array([[0.0, 1.0], [np.inf, 0.0]])[:1]
    x = np.concatenate([x, [[-np.inf, 0.0]]])
    loss = F.softmax_cross_entropy(x, np.array([0, -1]))
    np.testing.assert_allclose(loss.array, -special.log_softmax(x[0])[0])


@pytest.mark.parametrize("rows", [1, 3000])  # by the formula; by a loop, where there are loops
def test_smoothed_losses_of_classes_that_are_masked_are_infinite(rows):
    x = np.tile(np.array([[0, -np.inf, 1]], "f"), (rows, 1))
    for label, expected in ((0, np.inf), (1, np.inf), (-1, 0)):
        t = np.full(rows, label)
        assert F.softmax_cross_entropy(x, t, label_smoothing=0.1).array == expected


def test_nothing_to_count():
    x = Variable(X.copy())
    loss = F.softmax_cross_entropy(x, np.full(4, -1))
    assert loss.array == 0
    loss.backward()
    assert not x.grad.any()
    assert F.accuracy(X, np.full(4, -1), ignore_label=-1).array == 0
    assert F.sigmoid_cross_entropy(X, np.full((4, 3), -1)).array == 0
    assert F.binary_accuracy(X, np.full((4, 3), -1)).array == 0


@pytest.mark.parametrize("reduce", ["mean", "no"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_class_weights(smoothing, reduce, normalize):
    weight = np.array([1.0, 0.5, 3.0])
    smoothed = np.eye(3)[T] * (1 - smoothing) + smoothing / 3
    each = -(LOGS * weight * smoothed).sum(1)
    options = {"class_weight": weight, "reduce": reduce, "normalize": normalize}
    options["label_smoothing"] = smoothing
    loss = F.softmax_cross_entropy(X, T, **options)
    np.testing.assert_allclose(loss.array, each if reduce == "no" else each.mean())

    def function(x):
        return F.softmax_cross_entropy(x, T, **options)

    check_backward(function, X, np.ones(loss.shape))
    check_double_backward(function, X, np.ones(loss.shape), np.ones(X.shape))


def test_class_weights_that_do_not_fit():
    with pytest.raises(TypeError, match="class_weight to be a constant, got a Variable"):
        F.softmax_cross_entropy(X, T, class_weight=Variable(np.ones(3)))
    with pytest.raises(InvalidType, match=r"class_weight.ndim == 1"):
        F.softmax_cross_entropy(X, T, class_weight=np.ones((3, 1)))
    with pytest.raises(InvalidType, match=r"class_weight.shape\[0\] == x.shape\[1\]"):
        F.softmax_cross_entropy(X, T, class_weight=np.ones(2))


def test_smoothed_labels_are_probabilities():
    spread = np.eye(3)[T] * 0.7 + 0.1
    expected = F.softmax_cross_entropy(X, spread).array
    for t in (T, np.eye(3)[T]):
        smoothed = F.softmax_cross_entropy(X, t, label_smoothing=0.3).array
        np.testing.assert_allclose(smoothed, expected)
        with pytest.raises(ValueError, match=r"expected label_smoothing in \[0, 1\], got 1.5"):
            F.softmax_cross_entropy(X, t, label_smoothing=1.5)
    some = F.softmax_cross_entropy(X, np.where(T == 2, -1, T), label_smoothing=0.3).array
    np.testing.assert_allclose(some, -(LOGS * spread).sum(1)[T != 2].mean())


@pytest.mark.parametrize("reduce", ["mean", "no"])
@pytest.mark.parametrize("kind", ["cross-entropy", "kl-divergence"])
def test_probabilities_for_labels(kind, reduce):
    p = special.softmax(np.random.default_rng(1).normal(size=X.shape), axis=1)
    p[0] = [1, 0, 0]
    each = -(p * LOGS).sum(1)
    if kind == "kl-divergence":
        each += special.xlogy(p, p).sum(1)
    loss = F.softmax_cross_entropy(X, p, reduce=reduce, soft_target_loss=kind)
    np.testing.assert_allclose(loss.array, each if reduce == "no" else each.mean())
    with pytest.raises(InvalidType, match=r"x.shape == t.shape"):
        F.softmax_cross_entropy(X, p[:2], soft_target_loss=kind)


@pytest.mark.parametrize("reduce", ["mean", "no"])
@pytest.mark.parametrize("normalize", [True, False])
@given(shape=st.lists(st.integers(0, 3), min_size=1, max_size=3), seed=st.integers(0, 9))
def test_probabilities_for_labels_of_two_classes(shape, seed, normalize, reduce):
    drawn = np.random.default_rng(seed)
    x, p, g = 9 * drawn.normal(size=shape), drawn.uniform(size=shape).round(1), np.ones(shape)
    share = special.expit(x)
    each = -(special.xlog1py(1 - p, -share) + special.xlogy(p, share))

    def function(x, t):
        return F.sigmoid_cross_entropy(x, t, normalize, reduce)

    mean = each.sum() / max(each.size if normalize else len(each), 1)
    np.testing.assert_allclose(function(x, p).array, each if reduce == "no" else mean)
    labels = p.round()
    np.testing.assert_allclose(function(x, labels).array, function(x, labels.astype(int)).array)
    check_backward(function, (x, p), g if reduce == "no" else None)


def test_probabilities_of_two_classes_have_the_shape_and_dtype_of_scores():
    with pytest.raises(InvalidType, match=r"x.shape == t.shape"):
        F.sigmoid_cross_entropy(X, X[0])
    with pytest.raises(InvalidType, match=r"x.dtype == t.dtype"):
        F.sigmoid_cross_entropy(X.astype("f"), X)
    halves = np.full(70_000, 0.5, "float16")  # whose sum is beyond the dtype
    assert abs(float(F.sigmoid_cross_entropy(halves * 0, halves).array) - np.log(2)) < 1e-3


@pytest.mark.parametrize("kind", ["cross-entropy", "kl-divergence"])
def test_classes_that_neither_scores_nor_probabilities_have(kind):
    x = Variable(np.array([[1.0, 2.0, -np.inf], [0.0, -np.inf, -np.inf]]))
    t = Variable(np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]))
    loss = F.softmax_cross_entropy(x, t, soft_target_loss=kind)
    known = F.softmax_cross_entropy(x[:1, :2], t[:1, :2], soft_target_loss=kind)
    np.testing.assert_allclose(loss.array, known.array / 2)
    loss.backward()
    shares = special.softmax(x.array, axis=1)
    np.testing.assert_allclose(x.grad, (shares - t.array) / 2, atol=1e-15)
    assert np.isfinite(t.grad).all()


def test_losses_by_probabilities_of_many_in_half_precision():
    x, t = (np.tile(np.array([row], "float16"), (8192, 1)) for row in ([10, -10], [0, 1]))
    assert F.softmax_cross_entropy(x, t).array == np.float16(20)


@pytest.mark.parametrize("places", [(), (3,)])
@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_what_is_ignored_may_be_no_number(places, reduce):
    scores = np.random.default_rng(0).normal(size=(400, 5, *places)).astype("f")
    t = np.zeros((400, *places), int)
    t[1::2] = -1
    found = []
    for value in (0, np.nan, np.inf):
        x = Variable(scores.copy())
        x.array[1::2, 1:] = value
        with np.errstate(invalid="ignore"):
            loss = F.softmax_cross_entropy(x, t, reduce=reduce)
            F.sum(loss).backward()
        found.append((loss.array, x.grad))
    for loss, grad in found[1:]:
        np.testing.assert_array_equal(loss, found[0][0])
        np.testing.assert_array_equal(grad, found[0][1])


def test_scores_with_places():
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    t = np.array([[0, 1, 2, 0], [2, 2, -1, 1]])
    flat, labels = x.swapaxes(1, 2).reshape(-1, 3), t.reshape(-1)
    one, other = (F.softmax_cross_entropy(a, b) for a, b in ((x, t), (flat, labels)))
    np.testing.assert_allclose(one.array, other.array)
    hits = flat.argmax(1) == labels
    np.testing.assert_allclose(F.accuracy(x, t).array, hits.mean())
    np.testing.assert_allclose(F.accuracy(x, t, ignore_label=-1).array, hits[labels >= 0].mean())


def test_accuracy_takes_scores_with_axes_of_length_one():
    assert F.accuracy(X[:, :, None, None], T).array == F.accuracy(X, T).array


def test_labels_out_of_range_are_named_in_debug_mode():
    with core.using_config("debug", True), pytest.raises(ValueError, match="got 3"):
        F.softmax_cross_entropy(X, np.array([0, 1, 2, 3]))


@pytest.mark.parametrize("reduce", ["sum_along_second_axis", "no"])
def test_huber_loss(reduce):
    t = np.zeros_like(X)
    each = special.huber(0.7, X)
    loss = F.huber_loss(X, t, 0.7, reduce)
    np.testing.assert_allclose(loss.array, each if reduce == "no" else each.sum(1))


def test_unknown_settings_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'mean'"):
        F.softmax_cross_entropy(X, T, reduce="maen")
    with pytest.raises(ValueError, match="'mean' or 'no', got 'sum'"):
        F.sigmoid_cross_entropy(X, np.ones((4, 3), int), reduce="sum")
    with pytest.raises(ValueError, match="'L1' or 'L2', got 'L3'"):
        F.hinge(X, T, norm="L3")
    with pytest.raises(ValueError, match="soft_target_loss"):
        F.softmax_cross_entropy(X, X, soft_target_loss="kl")
    with pytest.raises(ValueError, match="sum_along_second_axis"):
        F.huber_loss(X, X, 1.0, reduce="mean")


@pytest.mark.parametrize(
    "call",
    [
        lambda: F.softmax_cross_entropy(X, T[:2]),
        lambda: F.softmax_cross_entropy(X[0], T[:1]),
        lambda: F.softmax_cross_entropy(X.astype(int), T),
        lambda: F.sigmoid_cross_entropy(X, T),
        lambda: F.mean_squared_error(X, X[:2]),
        lambda: F.accuracy(X, T[:2]),
        lambda: F.hinge(X, T[:2]),
    ],
)
def test_ill_fitting_input_is_refused_in_three_parts(call):
    refused_in_three_parts(call)


def test_the_graph_of_a_loss_keeps_the_scores_and_no_second_array_of_their_size():
    x = Variable(X.copy())
    node = F.softmax_cross_entropy(x * 1.0, T).creator
    kept = [a for a in (node.w, node.top, node.log_total) if a is not None]
    assert sum(a.size for a in kept) == 3 * len(X)
