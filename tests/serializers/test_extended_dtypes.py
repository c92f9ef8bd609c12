"""bfloat16, its kin and float16 in files: the bits come back, and strangers see what they are."""

import sys

import h5py
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from kinds import KINDS, Bag

from core.errors import CheckpointError
from core.serializers import load_hdf5, load_npz, save_hdf5, save_npz

WHOLE = [pair for pair in KINDS if pair.holds_text]
EXTENDED = [
    name
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "int4", "uint4")
    if hasattr(ml_dtypes, name)
]
shapes = hnp.array_shapes(min_dims=0, min_side=0, max_side=4)


@pytest.fixture(params=WHOLE, ids=lambda kind: kind.name)
def whole(request):
    return request.param


def check_return(kind, path, array):
    kind.save(path, Bag(a=array))
    filled, asked = Bag(a=np.zeros_like(array)), Bag(a=None)
    for loaded in (filled, asked):
        kind.load(path, loaded)
        assert loaded.values["a"].dtype == array.dtype and loaded.values["a"].shape == array.shape
        assert loaded.values["a"].tobytes() == array.tobytes()


@given(bits=hnp.arrays("u2", shapes), dtype=st.sampled_from(["bfloat16", "float16"]))
def test_all_bits_of_sixteen_come_back(kind, path, bits, dtype):
    check_return(kind, path, bits.view(getattr(ml_dtypes, dtype, dtype)))


@pytest.mark.parametrize("name", EXTENDED)
@pytest.mark.parametrize("shape", [(), (0,), (3, 2)])
def test_every_dtype_of_ml_dtypes_comes_back(whole, path, name, shape):
    check_return(whole, path, np.ones(shape, getattr(ml_dtypes, name)))


def test_any_layout(whole, path):
    array = np.arange(12).reshape(3, 4).astype(ml_dtypes.bfloat16)
    whole.save(path, Bag(a=array.T[::2]))
    target = np.zeros((2, 3), ml_dtypes.bfloat16)
    whole.load(path, Bag(a=target))
    assert target.tolist() == array.T[::2].tolist()


def test_values_convert_to_other_floats_but_not_to_integers(whole, path):
    whole.save(path, Bag(a=np.array([1.5, -2], ml_dtypes.bfloat16)))
    wide = np.zeros(2)
    whole.load(path, Bag(a=wide))
    assert wide.tolist() == [1.5, -2]
    with pytest.raises(CheckpointError, match="dtype int32 expected, the file has bfloat16"):
        whole.load(path, Bag(a=np.zeros(2, "i4")))
    whole.save(path, Bag(a=wide))
    narrow = np.zeros(2, ml_dtypes.bfloat16)
    whole.load(path, Bag(a=narrow))
    assert narrow.tolist() == [1.5, -2]


def test_other_programs_see_the_name_and_the_bits(tmp_path):
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    save_npz(tmp_path / "a.npz", Bag(a=array))
    save_hdf5(tmp_path / "a.h5", Bag(a=array))
    with np.load(tmp_path / "a.npz") as file, h5py.File(tmp_path / "a.h5") as other:
        for found in (file["a"], other["a"][()]):
            assert found["bfloat16"].tobytes() == array.tobytes()


def test_without_ml_dtypes_bfloat16_is_read_as_float32(whole, path, monkeypatch):
    whole.save(path, Bag(a=np.array([1.5, np.inf], ml_dtypes.bfloat16)))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    loaded = Bag(a=None)
    whole.load(path, loaded)
    assert loaded.values["a"].dtype == "f4" and loaded.values["a"].tolist() == [1.5, np.inf]


def test_without_ml_dtypes_others_are_named(whole, path, monkeypatch):
    whole.save(path, Bag(a=np.zeros(2, ml_dtypes.float8_e5m2)))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(CheckpointError, match="float8_e5m2.*pip install -U ml_dtypes"):
        whole.load(path, Bag(a=None))


@pytest.mark.parametrize(("save", "load"), [(save_npz, load_npz), (save_hdf5, load_hdf5)])
def test_structures_of_others_are_left_alone(path, save, load):
    array = np.array([(1,), (2,)], [("mine", "u2")])
    save(path, Bag(a=array))
    loaded = Bag(a=None)
    load(path, loaded)
    assert loaded.values["a"].dtype == array.dtype
    with pytest.raises(CheckpointError, match="V2 for .a., which"):
        save(path, Bag(a=np.zeros(2, "V2")))
