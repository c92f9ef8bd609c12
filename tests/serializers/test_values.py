"""Values that files or arrays could only hold as others: they are refused."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from kinds import Bag

from core.errors import CheckpointError
from core.link.serializer import Deserializer
from core.serializers import load_npz, save_npz


@given(
    hnp.arrays(st.sampled_from(["i1", "u1", ">i4", "u4", "i8", "u8"]), st.integers(0, 3)),
    st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8"]),
)
def test_integers_are_loaded_as_the_same_or_refused(kind, path, stored, dtype):
    kind.save(path, Bag(first=np.ones(1), a=stored))
    loaded = Bag(first=np.zeros(1), a=np.full(stored.shape, 7, dtype))
    try:
        kind.load(path, loaded)
    except CheckpointError as error:
        assert np.dtype(dtype).name in str(error)
        assert stored.astype(dtype).tolist() != stored.tolist() or dtype[0] != stored.dtype.kind
        assert loaded.values["first"] == 0 and (loaded.values["a"] == 7).all()
    else:
        assert loaded.values["a"].tolist() == stored.tolist()


@given(
    hnp.arrays(st.sampled_from(["f2", ">f4", "f8"]), st.integers(0, 3)),
    st.sampled_from(["f2", "f4", "f8", "bfloat16"]),
)
def test_floats_are_loaded_to_rounding_or_refused(kind, path, stored, dtype):
    """In halves, numbers beyond 65504 became infinite."""
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    with np.errstate(over="ignore"):
        expected = stored.astype(dtype)
    kind.save(path, Bag(first=np.ones(1), a=stored))
    loaded = Bag(first=np.zeros(1), a=np.full(stored.shape, 7, dtype))
    try:
        kind.load(path, loaded)
    except CheckpointError as error:
        assert f"expected numbers that {dtype.name} can hold" in str(error)
        assert np.isinf(expected).sum() > np.isinf(stored).sum()
        assert loaded.values["first"] == 0 and (loaded.values["a"] == 7).all()
    else:
        assert loaded.values["a"].tobytes() == expected.tobytes()
        assert np.isinf(expected).sum() == np.isinf(stored).sum()


@pytest.mark.parametrize("number", [-1e300, 1e300j, complex(math.inf, 1e300)])
def test_complex_numbers_that_would_become_infinite_are_refused(path, number):
    save_npz(path, Bag(first=np.ones(1), a=np.array([1j, number, math.nan])))
    loaded = Bag(first=np.zeros(1), a=np.zeros(3, "c8"))
    with pytest.raises(
        CheckpointError, match=r"numbers that complex64 can hold, .*1e\+300.* complex128"
    ):
        load_npz(path, loaded)
    assert loaded.values["first"] == 0 and not loaded.values["a"].any()
    save_npz(path, Bag(a=np.array([1 / 3, math.inf, complex(0, math.nan)])))
    load_npz(path, loaded := Bag(a=np.zeros(3, "c8")))
    assert loaded.values["a"][0] == np.complex64(1 / 3)


def test_nothing_is_loaded_where_an_array_cannot_be_changed(kind, path):
    """As a parameter whose array another library has handed out, or a file mapped for reading."""
    kind.save(path, Bag(first=np.ones(1), a=np.ones(3)))
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for array in (fixed, np.broadcast_to(0.0, 3)):
        loaded = Bag(first=np.zeros(1), a=array)
        with pytest.raises(CheckpointError, match="a: an array that can be changed expected"):
            kind.load(path, loaded)
        assert loaded.values["first"] == 0 and loaded.values["a"] is array


texts = st.text("a\0", max_size=4) | st.binary(max_size=4)


@given(texts | st.lists(st.text("a\0", max_size=3) | st.integers(0, 3), min_size=1, max_size=3))
def test_text_is_saved_as_it_is_or_refused(kind, path, value):
    """Zeros at its end were lost, as of bytes that are numbers; numbers beside it became text."""
    try:
        kind.save(path, Bag(t=value))
    except CheckpointError as error:
        assert "Use save_npz" in str(error) or "an array would change it" in str(error)
    else:
        loaded = Bag(t=type(value)())
        kind.load(path, loaded)
        assert loaded.values["t"] == value


@pytest.mark.parametrize("room", ["U2", "U5"])
def test_text_in_an_array_is_loaded_as_it_is_or_refused(kind, path, room):
    names = np.array(["cat", "horse"])
    loaded = Bag(n=np.zeros(2, room))
    try:
        kind.save(path, Bag(n=names))
        kind.load(path, loaded)
    except CheckpointError as error:
        assert "Use save_npz" in str(error) or (room == "U2" and "dtype <U2 expected" in str(error))
        assert loaded.values["n"].tolist() == ["", ""]
    else:
        assert loaded.values["n"].tolist() == names.tolist()


def test_what_makes_no_array_is_refused(kind, path):
    with pytest.raises(CheckpointError, match=r"that make an array, got \[\[1\], \[2, 3\]\]"):
        kind.save(path, Bag(a=[[1], [2, 3]]))
    for name in (1, ("a", "b"), "a\0b", "\ud800"):
        with pytest.raises(TypeError, match="expected names that are text, without"):
            kind.save(path, {name: np.ones(2)})
    with pytest.raises(TypeError, match="expected names that are text, without"):
        kind.save(path, Bag(**{"\ud800": np.ones(2)}))
    with pytest.raises(TypeError, match="expected names of more than slashes"):
        kind.save(path, {"/": np.ones(2)})
    assert not path.exists()


@pytest.mark.parametrize("name", ["a//b", "a/", "./b", "/", "__metadata__"])
def test_a_name_is_read_back_or_refused_when_it_is_saved(kind, path, name):
    loaded = Bag(**{name: np.zeros(2)})
    try:
        kind.save(path, Bag(**{name: np.ones(2)}))
    except CheckpointError as error:
        assert kind.name != "npz" and "use save_npz" in str(error)
    else:
        kind.load(path, loaded)
        assert loaded.values[name].tolist() == [1, 1]


def test_a_complex_number_is_loaded_as_one_or_refused(kind, path):
    kind.save(path, Bag(first=np.ones(1), x=np.complex64(2j)))
    loaded = Bag(first=np.zeros(1), x=0.5)
    with pytest.raises(CheckpointError, match=r"x: expected 0\.5 or similar, not complex64"):
        kind.load(path, loaded)
    assert loaded.values["first"] == 0
    loaded = Bag(first=np.zeros(1), x=1j)
    kind.load(path, loaded)
    assert loaded.values["x"] == 2j


class Failing(Bag):
    """Its load fails when all values are there."""

    def serialize(self, serializer):
        super().serialize(serializer)
        if isinstance(serializer, Deserializer) and self.values.pop("fails", False):
            raise ValueError("not this one")


@pytest.mark.parametrize("own", [None, np.zeros(2), np.zeros(2, "f"), np.zeros(())], ids=repr)
@pytest.mark.parametrize("saved", [None, np.ones(2), 2.0], ids=repr)
def test_a_load_that_fails_brings_back_what_was_there(kind, path, saved, own):
    kind.save(path, Bag(first=np.ones(1), a=saved, last=3, fails=True))
    first = np.zeros(1)
    loaded = Failing(first=first, a=own, last=4, fails=True)
    with pytest.raises((ValueError, CheckpointError)):
        kind.load(path, loaded)
    assert loaded.values["first"] is first and first == 0 and loaded.values["last"] == 4
    found = loaded.values["a"]
    assert type(found) is type(own)
    np.testing.assert_array_equal(found, own, strict=own is not None)
