"""safetensors files alone: exchange with the library, bfloat16, what is refused."""

import io
import json
import sys

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from kinds import Bag, Net, state

from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import load_safetensors, save_safetensors


def test_the_library_reads_the_files_and_its_files_load(path):
    net = Net(seed=1)
    save_safetensors(path, net)
    found = safetensors.numpy.load_file(path)
    assert sorted(found) == ["l1/W", "l1/b", "l2/b", "steps"]
    np.testing.assert_array_equal(found["l1/W"], net.l1.W.array)
    safetensors.numpy.save_file({"W": found["l1/W"], "b": found["l1/b"]}, path)
    other = Net(seed=2).l1
    load_safetensors(path, other)
    np.testing.assert_array_equal(other.W.array, net.l1.W.array)


def test_a_transposed_array_is_not_written_as_its_memory_lies(path):
    array = np.arange(6, dtype="f").reshape(2, 3).T
    save_safetensors(path, Bag(a=array))
    np.testing.assert_array_equal(safetensors.numpy.load_file(path)["a"], array)


def test_bfloat16(path):
    array = np.array([1.5, -2.0, 3.0e38], ml_dtypes.bfloat16)
    save_safetensors(path, Bag(a=array))
    for wanted in (array.dtype, np.dtype("f4"), np.dtype("f8")):
        target = np.zeros(3, wanted)
        load_safetensors(path, Bag(a=target))
        np.testing.assert_array_equal(target.astype("f4"), array.astype("f4"))
    loaded = Bag(a=None)
    load_safetensors(path, loaded)
    assert loaded.values["a"].dtype == array.dtype


def test_bfloat16_without_ml_dtypes_is_read_as_float32(path, monkeypatch):
    array = np.array([1.5, -2.0, np.inf], ml_dtypes.bfloat16)
    save_safetensors(path, Bag(a=array))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    loaded = Bag(a=None)
    load_safetensors(path, loaded)
    assert loaded.values["a"].dtype == "f4" and loaded.values["a"].tolist() == [1.5, -2, np.inf]


def test_files_that_are_open():
    file = io.BytesIO()
    save_safetensors(file, Net(seed=1))
    file.seek(0)
    loaded = Net(seed=2)
    load_safetensors(file, loaded)
    assert state(loaded) == state(Net(seed=1))
    with pytest.raises(CheckpointDamaged, match="the file: the file is damaged"):
        load_safetensors(io.BytesIO(file.getvalue()[:-1]), loaded)


def raw(path, header, data=b""):
    """A file of the format, written by hand."""
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_foreign_dtypes_are_named(path):
    raw(path, {"a": {"dtype": "F8_E5M2", "shape": [2], "data_offsets": [0, 2]}}, b"ab")
    with pytest.raises(CheckpointError, match=r"tensor 'a' is of the dtype F8_E5M2"):
        load_safetensors(path, Bag(a=None))


@pytest.mark.parametrize(
    "header",
    [
        {"a": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}},
        {"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 10**15]}},
        {"a": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 8]}},
        {
            "a": {"dtype": "F64", "shape": [0, 2**62, 2**62], "data_offsets": [0, 0]},
            "b": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
        },
        {"a": {"dtype": "F64", "shape": [1] * 100, "data_offsets": [0, 8]}},
        b'{"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}, '
        b'"a": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}',
        {"a": [1, 2]},
        b"[" * 100_000,
        b"{" + b" " * 100,
        b"\xff\xfe",
    ],
)
def test_absurd_headers_are_refused(path, header):
    raw(path, header, bytes(8))
    with pytest.raises(CheckpointDamaged):
        load_safetensors(path, Bag(a=None))


def test_dtypes_that_the_format_lacks(path):
    for array in (np.zeros(2, "c16"), np.zeros(2, ml_dtypes.float8_e5m2), np.zeros(2, "M8[s]")):
        with pytest.raises(CheckpointError, match="save_safetensors: expected None or numbers of"):
            save_safetensors(path, Bag(a=array))
    assert not path.exists()
