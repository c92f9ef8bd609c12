"""Numbers that name nothing are refused by every function that looks things up by number."""

import numpy as np
import pytest

import core
import core.functions as F
from core.errors import OutOfRange

X, W = np.ones((3, 4), "f"), np.ones((5, 2), "f")
IMAGES, ROIS = np.ones((2, 1, 4, 4), "f"), np.array([[0, 0, 2, 2]] * 3, "f")

LOOK_UPS = {
    "softmax_cross_entropy": (lambda t: F.softmax_cross_entropy(X, t, ignore_label=-7), 4),
    "select_item": (lambda t: F.select_item(X, t), 4),
    "segment_max": (lambda t: F.segment_max(X, t, 3), 3),
    "segment_mean": (lambda t: F.segment_mean(X, t, 3), 3),
    "segment_softmax": (lambda t: F.segment_softmax(X, t, 3), 3),
    "hinge": (lambda t: F.hinge(X, t), 4),
    "embed_id": (lambda t: F.embed_id(t, W), 5),
    "embed_id with an ignored number": (lambda t: F.embed_id(t, W, ignore_label=-7), 5),
    "black_out": (lambda t: F.black_out(X, t, np.ones((5, 4), "f"), t[:, None]), 5),
    "permutate": (lambda t: F.permutate(X, t), 3),
    "upsampling_2d": (
        lambda t: F.upsampling_2d(X[:, :1, None, None], t[:, None, None, None], (2, 1)),
        2,
    ),
    "roi_max_pooling_2d": (lambda t: F.roi_max_pooling_2d(IMAGES, ROIS, t, 1, 1.0), 2),
    "roi_average_align_2d": (lambda t: F.roi_average_align_2d(IMAGES, ROIS, t, 1, 1.0), 2),
    "crf1d": (lambda t: F.crf1d(np.ones((4, 4), "f"), [X], [t]), 4),
}


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", ">i4", ">i8"])
@pytest.mark.parametrize(("call", "count"), LOOK_UPS.values(), ids=LOOK_UPS)
def test_the_first_stranger_is_named(call, count, dtype):
    call(np.array([0, count - 1, 1], dtype))
    for stranger in (count, 100) if dtype == "uint8" else (count, 100, -1, -count - 1):
        numbers = np.array([0, stranger, 1], dtype)
        with pytest.raises(
            OutOfRange, match=rf"in \[0, {count}\), got {stranger} at \(1,"
        ) as raised:
            call(numbers)
        assert isinstance(raised.value, IndexError)
        assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("rows", [2, 70_000])  # few, and enough for a compiled loop
@pytest.mark.parametrize("stranger", [2, -2, 255])
def test_labels_that_are_neither_yes_nor_no(rows, stranger):
    x, t = np.zeros((rows, 1), "f"), np.array([[-1], [1]] * (rows // 2), "i")
    assert F.sigmoid_cross_entropy(x, t).array == np.log(np.float32(2))
    t[1] = stranger
    for labels in (t, t.astype("u1")) if stranger == 255 else (t,):
        with pytest.raises(OutOfRange, match=r"expected t in \[0, 2\), got .* -1 is for what"):
            F.sigmoid_cross_entropy(x, labels)


def test_the_place_in_an_array_of_numbers_is_told():
    with pytest.raises(OutOfRange, match=r"EmbedID: expected x in \[0, 5\), got 9 at \(1, 0\)"):
        F.embed_id(np.array([[0, 1], [9, -1]]), W, ignore_label=-1)


@pytest.mark.parametrize("stranger", [9, -1])
def test_a_number_without_axes_is_told(stranger):
    for call in (lambda x: F.embed_id(x, W), lambda x: F.one_hot(x, 5)):
        with pytest.raises(OutOfRange, match=rf"in \[0, 5\), got {stranger} at \(\)"):
            call(np.array(stranger))
        with pytest.raises(OutOfRange, match=rf"in \[0, 5\), got {stranger} at \(\)"):
            core.trace(call, np.array(1))(np.array(stranger))


def test_no_numbers_are_all_in_range():
    assert F.embed_id(np.zeros((0, 2), "i"), W).shape == (0, 2, 2)
    assert F.softmax_cross_entropy(X[:0], np.zeros(0, "i")).array == 0


def test_the_referee_notices_too():
    strict = core.backend.get("strict")
    with pytest.raises(OutOfRange, match="got -1"):
        F.embed_id(strict.asarray(np.array([-1])), strict.asarray(W))


@pytest.mark.parametrize("place", ["numpy", "strict"])
@pytest.mark.parametrize("ignored", [-1, 0, 2, 9])
def test_rows_of_numbers_that_are_left_out_are_zeros(ignored, place):
    table, numbers = np.arange(12.0).reshape(4, 3), np.array([[0, ignored], [3, ignored]])
    table[0 if ignored else 1] = np.nan  # a row that nobody asks for
    numbers[0, 0] = 1 if ignored else 2
    device = core.get_device(place)
    W = core.Variable(device.send(table))
    y = F.embed_id(device.send(numbers), W, ignore_label=ignored)
    expected = np.zeros((2, 2, 3))
    expected[:, 0] = table[numbers[:, 0]]
    np.testing.assert_array_equal(core.backend.to_host(y.array), expected)
    F.sum(y).backward()
    counts = np.bincount(numbers[:, 0], minlength=4)
    np.testing.assert_array_equal(core.backend.to_host(W.grad), np.outer(counts, [1.0] * 3))


MANY = np.random.default_rng(0).normal(size=(3, 300)).astype("f")

CLASSES = {
    "softmax_cross_entropy": F.softmax_cross_entropy,
    "with a graph of its gradient": lambda x, t: F.softmax_cross_entropy(
        x, t, enable_double_backprop=True
    ),
    "select_item": F.select_item,
    "hinge": F.hinge,
    "embed_id": lambda x, t: F.embed_id(t, F.transpose(x), ignore_label=-1),
    "accuracy": lambda x, t: F.accuracy(x, t, ignore_label=-1),
    "classification_summary": lambda x, t: F.classification_summary(x, t, 300)[0][1:3],
    "one_hot": lambda x, t: F.one_hot(t, 300),
    "connectionist_temporal_classification": lambda x, t: F.connectionist_temporal_classification(
        [x, x, x], t[:, None], 0
    ),
}


@pytest.mark.parametrize("place", ["numpy", "strict"])
@pytest.mark.parametrize("call", CLASSES.values(), ids=CLASSES)
def test_labels_of_few_bits_name_one_of_many_classes(call, place):
    """300 classes, whose numbers uint8 does not hold: 257 is none of 1, and 255 none of -1."""
    device, found = core.get_device(place), []
    scores = MANY.copy()
    scores[0, 257] = 9
    for dtype in ("uint8", "int64"):
        x, t = [core.Variable(device.send(a)) for a in (scores, np.array([1, 255, 43], dtype))]
        y = call(x, t)
        if y.requires_grad:
            F.sum(y).backward()
        found.append([core.backend.to_host(a) for a in (y.array, x.grad) if a is not None])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("place", ["numpy", "strict"])
@pytest.mark.parametrize("call", ["softmax_cross_entropy", "sigmoid_cross_entropy", "embed_id"])
def test_numbers_beyond_int64_are_refused(call, place):
    """As int64, 2**64 - 1 is -1, the number that is left out."""
    device = core.get_device(place)
    x = device.send(np.zeros((2, 3), "f"))
    t = np.array([0, 2**64 - 1], "uint64")
    given = device.send(np.stack([t] * 3, axis=1) if call == "sigmoid_cross_entropy" else t)
    with pytest.raises(core.errors.OutOfRange, match="expected [tx] in"):
        F.embed_id(given, x, -1) if call == "embed_id" else getattr(F, call)(x, given)


@pytest.mark.parametrize("ignored", [2**63, 2**64, -(2**70)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
def test_a_label_to_leave_out_may_be_any_number(ignored, dtype):
    scores, t = np.random.default_rng(0).normal(size=(4, 3)).astype("f"), np.array([0, 2, 1, 1])
    x, like = core.Variable(scores), core.Variable(scores)
    y = F.softmax_cross_entropy(x, t.astype(dtype), ignore_label=ignored)
    expected = F.softmax_cross_entropy(like, t)
    y.backward(), expected.backward()
    np.testing.assert_allclose(y.array, expected.array, rtol=1e-6)
    np.testing.assert_allclose(x.grad, like.grad, rtol=1e-5, atol=1e-7)
