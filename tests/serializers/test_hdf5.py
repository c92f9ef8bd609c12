"""HDF5 files alone: what h5py and Chainer read and write, groups, what lies elsewhere."""

import io

import h5py
import numpy as np
import pytest
from kinds import Bag, Net, state

import core.links as L
from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import HDF5Deserializer, HDF5Serializer, load_hdf5, save_hdf5


def test_h5py_reads_the_files(path):
    save_hdf5(path, Bag(a=np.arange(6.0).reshape(2, 3), t="é", n=None, k=5))
    with h5py.File(path) as file:
        dataset = file["a"]
        assert dataset.fletcher32 and dataset.compression_opts == 4
        np.testing.assert_array_equal(dataset[()], np.arange(6.0).reshape(2, 3))
        assert file["t"].asstr()[()] == "é" and file["k"][()] == 5
        assert file["n"].shape is None


@pytest.mark.parametrize("compression", [None, 0, 9])
def test_compression(path, compression):
    weights = np.random.RandomState(0).randn(40_000)  # which compression makes no smaller
    save_hdf5(path, Bag(a=np.zeros(1000), w=weights), compression)
    with h5py.File(path) as file:
        assert file["a"].compression_opts == compression and file["a"].fletcher32
        assert file["w"].compression is None and file["w"].fletcher32
    loaded = Bag(a=np.ones(1000), w=np.ones(40_000))
    load_hdf5(path, loaded)
    assert (loaded.values["w"] == weights).all()


def chainer_file(path, net):
    """What Chainer writes: a dataset for each value, compressed; None as an empty one."""
    with h5py.File(path, "w") as file:
        for name, array in {
            "l1/W": net.l1.W.array, "l1/b": net.l1.b.array, "l2/b": net.l2.b.array,
        }.items():  # fmt: skip
            file.create_dataset(name, data=array, compression=4)
        file.create_dataset("l2/W", data=h5py.Empty("f"))
        file.create_dataset("steps", data=net.steps)


def test_files_of_chainer_load(path):
    chainer_file(path, Net(seed=1))
    loaded = Net(seed=2)
    load_hdf5(path, loaded)
    assert state(loaded) == state(Net(seed=1))


def test_serializers_work_on_groups():
    source, target = Net(seed=1), Net(seed=2)
    with h5py.File.in_memory() as file:
        HDF5Serializer(file, compression=None)["deep/down"].save(source)
        assert sorted(file["deep/down/l1"]) == ["W", "b"]
        HDF5Deserializer(file["deep/down"]).load(target)
        assert state(target) == state(source)
        with pytest.raises(CheckpointError, match="HDF5Deserializer: expected an entry 'W'"):
            HDF5Deserializer(file)("W", np.zeros(2))
        assert HDF5Deserializer(file, strict=False)("W", 7) == 7


def test_checksums_of_datasets_are_checked_where_there_is_no_digest(path):
    array = np.random.default_rng(0).normal(size=50)
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=array, fletcher32=True)
    data = bytearray(path.read_bytes())
    data[data.index(array.tobytes()) + 100] ^= 1
    path.write_bytes(data)
    target = np.zeros(50)
    with pytest.raises(CheckpointDamaged, match="dataset 'a'"):
        load_hdf5(path, Bag(a=target))
    assert not target.any()


def test_what_lies_in_other_files_is_refused(path, tmp_path):
    with h5py.File(tmp_path / "other", "w") as other:
        other["secret"] = np.ones(3)
    layout = h5py.VirtualLayout((3,), "f8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other"), "secret", (3,))
    makers = {
        "virtual": lambda file: file.create_virtual_dataset("a", layout),
        "external": lambda file: file.create_dataset(
            "a", (3,), "f8", external=[(str(tmp_path / "other"), 0, 24)]
        ),
        "reference": lambda file: file.create_dataset("a", data=file.ref, dtype=h5py.ref_dtype),
    }
    for make in makers.values():
        with h5py.File(path, "w") as file:
            make(file)
        with pytest.raises(CheckpointError, match="other files, and is refused"):
            load_hdf5(path, Bag(a=np.zeros(3)))
    for link in (h5py.ExternalLink(str(tmp_path / "other"), "secret"), h5py.SoftLink("/b")):
        with h5py.File(path, "w") as file:
            file["a"] = link
        with pytest.raises(CheckpointError, match="a: missing from the file"):
            load_hdf5(path, Bag(a=np.zeros(3)))


def test_absurd_sizes_are_refused(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a", (10**13,), "f8", chunks=(1000,))
    with pytest.raises(CheckpointDamaged, match="0 bytes for 80000000000000 of data"):
        load_hdf5(path, Bag(a=None))


def test_a_name_cannot_be_a_value_and_a_part(path):
    class Both(Bag):
        def serialize(self, serializer):
            serializer("a", 1)
            serializer["a"]("b", 2)

    with pytest.raises(CheckpointError, match="HDF5 cannot hold 'a/b'"):
        save_hdf5(path, Both())
    with pytest.raises(CheckpointError, match="HDF5 cannot hold 'a', of dtype datetime64"):
        save_hdf5(path, Bag(a=np.zeros(2, "M8[s]")))
    assert not path.exists()


def test_open_files_of_bytes_are_written_and_read_and_h5pys_own_have_a_serializer(tmp_path):
    link, other, file = L.Linear(3, 2), L.Linear(3, 2), io.BytesIO()
    save_hdf5(file, link)
    file.seek(0)
    load_hdf5(file, other)
    np.testing.assert_array_equal(other.W.array, link.W.array)
    with pytest.raises(CheckpointError, match="the file: the file is damaged"):
        load_hdf5(io.BytesIO(file.getvalue()[:-1]), other)
    with h5py.File(tmp_path / "open.h5", "w") as opened:
        with pytest.raises(TypeError, match=r"save_hdf5: .*HDF5Serializer\(group\).save"):
            save_hdf5(opened, link)
        with pytest.raises(TypeError, match=r"load_hdf5: .*HDF5Deserializer\(group\).load"):
            load_hdf5(opened, link)
    for call in (save_hdf5, load_hdf5):
        with pytest.raises(TypeError, match=rf"{call.__name__}: expected a path, or a file open"):
            call(3, link)
