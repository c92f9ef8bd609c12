"""npz files alone: what NumPy and Chainer read and write, parts of files, malicious ones."""

import io
import os
import zipfile

import numpy as np
import pytest
from kinds import Bag, Net, state

from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import DictionarySerializer, NpzDeserializer, load_npz, save_npz


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"  # numpy.savez would add the ending


# -- there and back ---------------------------------------------------------------------------


def test_numpy_reads_the_files_and_files_of_numpy_load(path):
    net = Net()
    save_npz(path, net)
    with np.load(path, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["l1/W"], net.l1.W.array)
        other = Net(seed=5)
        NpzDeserializer(file).load(other)
    assert state(other) == state(net)


def chainer_file(path, model, compressed=True):
    """What Chainer writes: numpy.savez of host arrays, None as a pickled object."""
    saved = DictionarySerializer()
    saved.save(model)
    entries = {
        name: np.asarray(None) if a.dtype.names == ("None",) else a
        for name, a in saved.target.items()
    }
    (np.savez_compressed if compressed else np.savez)(path, **entries)


@pytest.mark.parametrize("compressed", [True, False])
def test_files_of_chainer_load(path, compressed):
    chainer_file(path, Net(seed=1), compressed)
    loaded = Net(seed=2)
    load_npz(path, loaded)
    assert state(loaded) == state(Net(seed=1))


@pytest.mark.parametrize("allow", [True, False])
def test_the_deserializer_unpickles_nothing_whatever_numpy_was_told(path, allow):
    chainer_file(path, Net(seed=1))
    other = Net(seed=2)
    with np.load(path, allow_pickle=allow) as file:
        deserializer = NpzDeserializer(file)
        assert deserializer.npz is file
        deserializer.load(other)
    assert state(other) == state(Net(seed=1))
    with pytest.raises(CheckpointError, match="was closed"):
        NpzDeserializer(file)
    evil = np.empty((), object)
    evil[()] = Evil()
    np.savez(path, a=evil)
    refused = pytest.raises(CheckpointError, match="pickled Python object")
    with np.load(path, allow_pickle=allow) as file, refused:
        NpzDeserializer(file)


# -- what does not fit ------------------------------------------------------------------------


def test_the_deserializer_alone_names_the_entry():
    with pytest.raises(CheckpointError, match=r"'a/weight'.*Did you mean 'a/weigth'"):
        NpzDeserializer({"a/weigth": np.zeros(2)})["a"]("weight", np.zeros(2))


# -- damage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [0, 1, 21, 22, 79, 80])
def test_the_last_bytes_count(path, cut):
    save_npz(path, Net())
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - cut] if cut else b"")
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Net())


def test_a_signature_cannot_be_flipped_away(path):
    save_npz(path, Net())
    data = bytearray(path.read_bytes())
    length = len(data) - 79 - 2  # where the archive says how long its comment is
    assert data[length] == 79
    data[length] = 0
    path.write_bytes(data)
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Net())


def test_files_without_a_digest_are_held_to_the_archives_checksums(path):
    chainer_file(path, Net(), compressed=False)
    data = bytearray(path.read_bytes())
    at = data.find(Net().l1.W.array.tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointDamaged, match="CRC"):
        load_npz(path, Net())


def archive_with(path, name, payload, repeat=1):
    with zipfile.ZipFile(path, "w") as archive:
        for _ in range(repeat):
            archive.writestr(name, payload)


class Evil:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize("value", [Evil(), [None], "text", [1, None]])
def test_pickled_objects_are_refused_unread(path, value):
    array = np.empty((), object)
    array[()] = value
    for refused in (array, np.array([None])):
        np.savez(path, a=refused)
        with pytest.raises(CheckpointError, match="pickled Python object"):
            load_npz(path, Bag(a=1))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)" + ", " * 20000 + "}",
        "[]",
        "",
    ],
)
def test_absurd_headers_are_refused(path, header):
    head = header.encode("latin1")
    payload = b"\x93NUMPY\x01\x00" + (len(head) & 0xFFFF).to_bytes(2, "little") + head + b"\0" * 8
    archive_with(path, "a.npy", payload)
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Bag(a=np.zeros(1)))


@pytest.mark.parametrize("payload", [b"", b"text", b"\x93NUMPY\x09\x00"])
def test_entries_that_are_no_arrays_are_refused(path, payload):
    archive_with(path, "a.npy", payload)
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Bag(a=1))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name_are_refused(path):
    archive_with(path, "a.npy", b"", repeat=2)
    with pytest.raises(CheckpointDamaged, match="one name"):
        load_npz(path, Bag(a=1))


def test_files_that_are_open(path):
    for compression in (True, False):
        file = io.BytesIO()
        save_npz(file, Net(seed=1), compression)
        with zipfile.ZipFile(file) as archive:
            ways = {info.compress_type for info in archive.infolist()}
        assert ways == {zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED}
        file.seek(0)
        loaded = Net(seed=2)
        load_npz(file, loaded)
        assert state(loaded) == state(Net(seed=1))


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_hardly_gets_smaller_is_not_compressed(path, order):
    """Weights lost 7 % of their bytes, and took ten times as long."""
    draw = np.random.RandomState(0)
    weights = draw.randn(300, 300).astype("f", order=order)
    values = {"weights": weights, "rectified": np.maximum(weights, 0), "text": "é" * 99}
    values["thinned"] = draw.randn(300, 600)[:, ::2]
    save_npz(path, Bag(**values))
    with zipfile.ZipFile(path) as archive:
        stored = [i.filename for i in archive.infolist() if i.compress_type == zipfile.ZIP_STORED]
    assert stored == ["weights.npy", "thinned.npy"]
    loaded = Bag(**dict.fromkeys(values))
    load_npz(path, loaded)
    assert state(loaded) == state(Bag(**values))


@pytest.mark.filterwarnings("ignore:Stored array in format")
def test_fields_may_have_names_beyond_latin_1(path):
    """NumPy writes these by a third version of its format, which was called damaged."""
    array = np.ones(2, [("重", "f4")])
    save_npz(path, Bag(a=array))
    loaded = Bag(a=None)
    load_npz(path, loaded)
    assert loaded.values["a"].dtype == array.dtype and (loaded.values["a"] == array).all()
