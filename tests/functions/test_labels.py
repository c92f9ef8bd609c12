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


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
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


def test_the_place_in_an_array_of_numbers_is_told():
    with pytest.raises(OutOfRange, match=r"EmbedID: expected x in \[0, 5\), got 9 at \(1, 0\)"):
        F.embed_id(np.array([[0, 1], [9, -1]]), W, ignore_label=-1)


def test_no_numbers_are_all_in_range():
    assert F.embed_id(np.zeros((0, 2), "i"), W).shape == (0, 2, 2)
    assert F.softmax_cross_entropy(X[:0], np.zeros(0, "i")).array == 0


def test_the_referee_notices_too():
    strict = core.backend.get("strict")
    with pytest.raises(OutOfRange, match="got -1"):
        F.embed_id(strict.asarray(np.array([-1])), strict.asarray(W))
