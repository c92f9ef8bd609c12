"""concat_examples: from lists of examples to arrays."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import core
from core.dataset import (
    ConcatWithAsyncTransfer,
    Converter,
    concat_examples,
    concat_examples_func,
    converter,
    to_device,
)


@given(
    hnp.arrays(st.sampled_from(["f4", "f8", "f2", "i4", "u1", "?"]), hnp.array_shapes(min_dims=1))
)
def test_joining_undoes_taking_apart(array):
    joined = concat_examples(list(array))
    assert joined.dtype == array.dtype
    np.testing.assert_array_equal(joined, array)
    pair = concat_examples([(x, i) for i, x in enumerate(array)])
    np.testing.assert_array_equal(pair[0], array)
    np.testing.assert_array_equal(pair[1], np.arange(len(array)))
    named = concat_examples([{"x": x} for x in array])
    np.testing.assert_array_equal(named["x"], array)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=5))
def test_padding_fills_what_is_missing(shapes):
    arrays = [np.full(shape, i, "f4") for i, shape in enumerate(shapes)]
    joined = concat_examples(arrays, padding=-1)
    assert joined.dtype == np.float32
    assert joined.shape == (len(shapes), *np.max(shapes, axis=0))
    for i, (rows, columns) in enumerate(shapes):
        assert (joined[i, :rows, :columns] == i).all()
        assert (joined[i] == -1).sum() == joined[i].size - rows * columns


def test_padding_loses_nothing_of_a_wider_dtype():
    joined = concat_examples([np.array([1, 2]), np.array([0.5])], padding=9)
    assert joined.tolist() == [[1, 2], [0.5, 9]]


@given(
    st.sampled_from(["?", "u1", "i1", "i4", "u8", "f2", "f4"]),
    st.integers(-300, 300) | st.floats(-300, 300).map(lambda x: round(x * 4) / 4) | st.just(np.nan),
)
def test_a_padding_is_the_number_given_or_refused(dtype, padding):
    """In arrays of integers NaN was the least of them, in masks -1 was True."""
    batch = [np.ones(2, dtype), np.ones(3, dtype)]
    try:
        joined = concat_examples(batch, padding=padding)
    except ValueError as error:
        assert "can hold" in str(error)
        with np.errstate(invalid="ignore"):
            assert np.float64(padding).astype(dtype) != padding or padding < 0
    else:
        np.testing.assert_array_equal(joined[0, 2], padding)
        assert joined.dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "i8", "?"])
@pytest.mark.parametrize("padding", [[-1, 7], (0, 1), {"x": 0}, np.array([1, 2]), "0", "a", b"0"])
def test_a_padding_is_one_number(dtype, padding):
    """A list for the parts of tuples was taken for the elements of each row; None in it was NaN."""
    for batch in (
        [np.ones(2, dtype), np.ones(1, dtype)],
        [np.ones((2, 2), dtype), np.ones((1, 2))],
    ):
        with pytest.raises(ValueError, match="can hold, got.*a tuple or dict with one for each"):
            concat_examples(batch, padding=padding)
    with pytest.raises(ValueError, match="element 0 that .* can hold, got"):
        concat_examples([(np.ones(2), 0), (np.ones(1), 1)], padding=[0, None])


def test_text_is_padded_by_text_that_it_holds():
    words = [np.array(["one", "two"]), np.array(["three"])]
    assert concat_examples(words, padding="<p>").tolist() == [["one", "two"], ["three", "<p>"]]
    for padding in ("<padding>", 0, b"a"):
        with pytest.raises(ValueError, match="U5 can hold"):
            concat_examples(words, padding=padding)
    with pytest.raises(ValueError, match="S1 can hold"):
        concat_examples([np.array([b"a", b"b"]), np.array([b"c"])], padding=b"<p>")


def test_a_padding_that_is_not_needed_may_be_any_number():
    masks = [(np.array([True, False]), [1] * n) for n in (1, 2)]
    mask, words = concat_examples(masks, padding=-1)
    assert mask.tolist() == [[True, False]] * 2 and mask.dtype == bool
    assert words.tolist() == [[1, -1], [1, 1]]


@pytest.mark.parametrize("one", [1, np.int64(1), np.array(1)])
@pytest.mark.parametrize("other", [1, np.int64(1), np.array(1)])
def test_numbers_and_arrays_without_axes_may_be_mixed(one, other):
    assert concat_examples([(one,), (other,)])[0].tolist() == [1, 1]


def test_paddings_for_each_part():
    batch = [(np.ones(1, "f"), [1, 2]), (np.ones(2, "f"), [3])]
    x, t = concat_examples(batch, padding=(0, -1))
    assert x.tolist() == [[1, 0], [1, 1]] and t.tolist() == [[1, 2], [3, -1]]
    named = [{"a": np.ones(1), "b": np.zeros(1)}, {"a": np.ones(2), "b": np.zeros(1)}]
    assert concat_examples(named, padding={"a": 7, "b": None})["a"].tolist() == [[1, 7], [1, 1]]


def test_arrays_stay_on_their_backend_unless_moved():
    strict = core.backend.get("strict")
    batch = [strict.asarray([1.0, 2.0]), strict.asarray([3.0])]
    joined = concat_examples(batch, padding=0.0)
    assert core.backend.of(joined) is strict
    assert concat_examples(batch, padding=0.0, device=-1).tolist() == [[1, 2], [3, 0]]
    moved = concat_examples([(np.ones(2), 1)], device="strict")
    assert [core.backend.of(x).name for x in moved] == ["strict", "strict"]


def test_to_device():
    array = np.ones(2)
    assert to_device(None, array) is array and to_device("numpy", array) is array
    strict = to_device("strict", array)
    assert core.backend.of(strict).name == "strict"
    assert to_device(-1, strict).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("batch", "padding", "message"),
    [
        ([(1, 2), (3, 4)], (0,), "has none for 1"),
        ([{"x": 1}, {"x": 2}], {"y": 0}, "has none for 'x'"),
        ([], None, "empty batch"),
        ([np.ones(2), np.ones(3)], None, "padding"),
        ([np.ones(2), np.ones((2, 3))], None, r"TupleDataset\(\*columns\)"),
        ([([1, 2], 0), ([3], 1)], None, "equal shapes in element 0.*padding"),
        ([[np.ones(2), 1]] * 2, None, "Make a tuple"),
        ([(np.ones(2), 1), (np.ones(3), 1)], None, "element 0"),
        ([np.ones(2), np.ones((2, 2))], 0, "number of axes"),
        ([(1, 2), (1,)], None, "example 1"),
        ([{"x": 1}, {"y": 1}], None, "example 1"),
        ([(1, 2), [1, 2]], None, "tuple"),
    ],
)
def test_examples_that_do_not_match_are_named(batch, padding, message):
    with pytest.raises(ValueError, match=message):
        concat_examples(batch, padding=padding)


def test_a_converter_of_ones_own_sees_a_device():
    seen = []

    @converter()
    def own(batch, device):
        """Sum."""
        seen.append(device)
        return sum(batch)

    assert own([1, 2]) == 3 and own([1], -1) == 1
    assert seen == [None, core.get_device("numpy")]
    assert own.__doc__ == "Sum."
    assert isinstance(own, Converter) and own.__name__ == "own"


@converter()
def halved(batch, device):
    return to_device(device, np.asarray(batch) / 2)


def test_a_converter_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(halved)) is halved


def test_a_class_of_converters():
    class Times(Converter):
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, batch, device=None):
            return to_device(device, np.asarray(batch) * self.factor)

    assert Times(3)([1, 2], -1).tolist() == [3, 6]
    with pytest.raises(TypeError, match="abstract"):
        Converter()


def test_the_other_name():
    assert concat_examples_func is concat_examples


BATCHES = [
    ([np.ones(2, "f"), np.zeros(2, "f")], None),
    ([(np.ones(2, "f"), 1), (np.zeros(3, "f"), 2)], (7, None)),
    ([{"x": np.ones(1, "f"), "t": 1}, {"x": np.zeros(2, "f"), "t": 2}], {"x": -1, "t": None}),
    ([1.5, 2.5], None),
]


@pytest.mark.parametrize("device", [None, -1, "numpy", "strict"])
@pytest.mark.parametrize(("batch", "padding"), BATCHES)
def test_transfers_that_cannot_overlap_are_plain(batch, padding, device):
    first = ConcatWithAsyncTransfer()
    for transfer in (first, first, pickle.loads(pickle.dumps(first))):
        found = transfer(batch, device, padding)
        check_equal(found, concat_examples(batch, device, padding))


def check_equal(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = tuple(found.values()), tuple(expected.values())
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected, strict=True):
        assert core.backend.of(one) is core.backend.of(other)
        assert core.backend.to_host(one).dtype == core.backend.to_host(other).dtype
        np.testing.assert_array_equal(core.backend.to_host(one), core.backend.to_host(other))


def test_arrays_of_another_backend_are_moved():
    strict = core.backend.get("strict")
    batch = [(strict.asarray([1.0]), 1), (strict.asarray([2.0]), 2)]
    x, t = ConcatWithAsyncTransfer()(batch, -1)
    assert isinstance(x, np.ndarray) and x.tolist() == [[1], [2]] and t.tolist() == [1, 2]


def test_transfers_refuse_what_concat_examples_refuses():
    with pytest.raises(ValueError, match="padding"):
        ConcatWithAsyncTransfer()([np.ones(1), np.ones(2)], -1)
