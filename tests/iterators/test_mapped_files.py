"""Arrays in mapped files go to worker processes as places in these files."""

import os
import pickle

import numpy as np
import pytest

from core import datasets
from core.iterators import MultiprocessIterator, SerialIterator
from plugins.processes import mapped_files
from plugins.processes.ipc import decode, encode


def sent(obj):
    """What another process gets, and how many bytes go there."""
    message = b"".join([bytes(piece) for piece in encode(obj, mapped_files.dumps)])
    return decode(bytearray(message)), len(message)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "a.npy", np.random.RandomState(0).rand(400, 3, 100))
    return tmp_path / "a.npy"


PARTS = {
    "whole": lambda a: a,
    "part": lambda a: a[100:],
    "backwards": lambda a: a[::-2, :, 3:],
    "turned": lambda a: a.T,
    "of a part": lambda a: np.asarray(a[50:])[10:, 1],
    "one row": lambda a: a.reshape(1, -1),
}


@pytest.mark.parametrize("part", PARTS)
def test_the_other_process_maps_the_file(path, part):
    array = PARTS[part](np.load(path, mmap_mode="r"))
    got, size = sent([array, {"again": array}])
    assert size < 2000
    for each in (got[0], got[1]["again"]):
        assert each.dtype == array.dtype and (each == array).all() and not each.flags.writeable


def test_a_file_without_a_head(tmp_path):
    np.arange(99_999, dtype=">i4").tofile(tmp_path / "raw")
    array = np.memmap(tmp_path / "raw", ">i4", "r", offset=40_000)
    got, size = sent(array)
    assert size < 2000 and got.dtype == array.dtype and (got == array).all()


def replaced(path):
    array = np.load(path, mmap_mode="r")
    np.save(path.with_name("b.npy"), np.zeros((400, 3, 100)))
    os.replace(path.with_name("b.npy"), path)
    return array


def removed(path):
    array = np.load(path, mmap_mode="r")
    path.unlink()
    return array


def shorter(path):
    array = np.load(path, mmap_mode="r")
    np.save(path.with_name("b.npy"), np.zeros(3))
    os.replace(path.with_name("b.npy"), path)
    return array


def changed_here(path):
    array = np.load(path, mmap_mode="c")
    array[7] = 5
    return array


COPIED = {
    "replaced": replaced,
    "removed": removed,
    "shorter": shorter,
    "changed": changed_here,
    "open for writing": lambda path: np.load(path, mmap_mode="r+"),
    "in memory": np.load,
    "small": lambda path: np.load(path, mmap_mode="r")[3],
    "text": lambda path: np.array(["a", None], object),
}


@pytest.mark.parametrize("case", COPIED)
def test_what_is_no_longer_in_the_file_is_copied(path, case):
    array = COPIED[case](path)
    got, size = sent(array)
    assert size >= array.nbytes and (got == array).all()


def test_what_is_sent_with_something_else_is_itself_again(path):
    """As the iterators of an updater of several processes, which go with copies of the model."""
    data = np.load(path, mmap_mode="r")
    iterator = SerialIterator(datasets.TupleDataset(data, np.arange(400)), 3, shuffle=False)
    message = pickle.dumps({"model": 1, "iterator": mapped_files.Sent(iterator)})
    again = pickle.loads(message)["iterator"]
    assert type(again) is SerialIterator and len(message) < 10_000
    for one, other in zip(again.next(), iterator.next(), strict=True):
        assert (one[0] == other[0]).all() and one[1] == other[1]


def test_an_iterator_leaves_a_large_dataset_in_its_file(path):
    data = np.load(path, mmap_mode="r")
    with MultiprocessIterator(data, 3, shuffle=False, n_processes=1) as iterator:
        assert (np.stack(iterator.next()) == data[:3]).all()
        assert (iterator._workers.folders[-1] / "dataset").stat().st_size < 2000
