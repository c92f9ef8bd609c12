"""A file of another format than expected: what it is, and what reads it."""

import gzip
import json
import pickle
import tarfile
import zipfile
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.links as L
from core import serializers
from core.errors import CheckpointDamaged
from plugins import formats
from plugins.formats import format_of, instead

LOADERS = {
    "npz": serializers.load_npz,
    "hdf5": serializers.load_hdf5,
    "safetensors": serializers.load_safetensors,
}


def packed(write):
    """The bytes that a function writes to an open file."""
    stream = BytesIO()
    write(stream)
    return stream.getvalue()


def zipped(*names):
    def write(stream):
        with zipfile.ZipFile(stream, "w") as archive:
            for name in names:
                archive.writestr(name, "content")

    return packed(write)


def tarred(stream):
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), BytesIO())


def image(kind):
    from PIL import Image

    return packed(lambda stream: Image.new("L", (4, 4)).save(stream, kind))


def keras_hdf5():
    h5py = pytest.importorskip("h5py")

    def write(stream):
        with h5py.File(stream, "w") as file:
            file.attrs["keras_version"] = "2.15.0"
            file.create_dataset("W", data=np.zeros(3))

    return packed(write)


def matlab():
    savemat = pytest.importorskip("scipy.io").savemat
    return packed(lambda stream: savemat(stream, {"x": np.zeros(3)}))


KINDS = {
    formats.EMPTY: lambda: b"",
    formats.TORCH: lambda: zipped("model/data.pkl", "model/data/0", "model/version"),
    formats.KERAS: keras_hdf5,
    formats.PICKLE: lambda: pickle.dumps({"W": np.zeros(3)}),
    formats.ZIP: lambda: zipped("a.png", "b.png"),
    formats.GZIP: lambda: gzip.compress(b"content"),
    formats.TAR: lambda: packed(tarred),
    formats.PNG: lambda: image("PNG"),
    formats.JPEG: lambda: image("JPEG"),
    formats.MATLAB: matlab,
    formats.PAGE: lambda: b"\n<!DOCTYPE html><title>404</title>",
    formats.JSON: lambda: json.dumps({"W": [1, 2]}).encode(),
    formats.TEXT: lambda: "Grüße, not weights\n".encode(),
    formats.LFS: lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
    formats.ARRAY: lambda: packed(lambda stream: np.save(stream, np.zeros(3))),
}
MORE = [
    (formats.KERAS, lambda: zipped("config.json", "model.weights.h5")),
    (formats.NPZ, lambda: packed(lambda stream: np.savez(stream, x=np.zeros(3)))),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of our own kinds, by kind."""
    folder = tmp_path_factory.mktemp("saved")
    for kind in LOADERS:
        getattr(serializers, f"save_{kind}")(folder / f"model.{kind}", L.Linear(3, 2))
    return {kind: folder / f"model.{kind}" for kind in LOADERS}


@pytest.mark.parametrize(("kind", "make"), [*KINDS.items(), *MORE])
def test_every_format_is_known(kind, make):
    assert format_of(make()) == kind


@pytest.mark.slow
@pytest.mark.parametrize("legacy", [False, True])
def test_files_of_torch(legacy):
    torch = pytest.importorskip("torch")
    state = {"W": torch.zeros(2, 3)}
    made = packed(lambda s: torch.save(state, s, _use_new_zipfile_serialization=not legacy))
    assert format_of(made) == formats.TORCH


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.text)
def test_loaders_say_what_the_file_is(loader, kind, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(KINDS[kind]())
    if loader == "hdf5" and kind is formats.KERAS:
        pytest.skip("which is an HDF5 file, though with other names")
    link = L.Linear(3, 2)
    before = link.W.array.copy()
    with pytest.raises(CheckpointDamaged) as refusal:
        LOADERS[loader](path, link)
    assert f"It is {kind.text}: {kind.cure}. Nothing of it was loaded" in str(refusal.value)
    assert (link.W.array == before).all()


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("written", LOADERS)
def test_our_own_formats_name_each_others_loaders(loader, written, saved):
    if loader == written:
        assert instead(saved[written], getattr(formats, written.upper())) == ""
        LOADERS[loader](saved[written], L.Linear(3, 2))
        return
    with pytest.raises(CheckpointDamaged, match=f"load_{written} reads it") as refusal:
        LOADERS[loader](saved[written], L.Linear(3, 2))
    assert f"It is {getattr(formats, written.upper()).text}" in str(refusal.value)


@pytest.mark.parametrize("kind", LOADERS)
def test_a_damaged_file_is_not_taken_for_another(kind, saved, tmp_path):
    content = saved[kind].read_bytes()
    for damaged in (content[: len(content) // 2], content[:-1] + bytes([content[-1] ^ 1])):
        path = tmp_path / "damaged"
        path.write_bytes(damaged)
        with pytest.raises(CheckpointDamaged) as refusal:
            LOADERS[kind](path, L.Linear(3, 2))
        assert "It is" not in str(refusal.value)


def test_an_open_file_is_left_where_it_was(saved):
    with open(saved["npz"], "rb") as stream:
        stream.seek(5)
        assert format_of(stream) == formats.NPZ and stream.tell() == 5
        stream.seek(0)
        with pytest.raises(CheckpointDamaged, match="It is an npz file"):
            serializers.load_safetensors(stream, L.Linear(3, 2))


def test_what_is_gone_has_no_format(tmp_path):
    assert instead(tmp_path / "gone") == ""


@given(st.binary(max_size=600))
def test_nothing_in_a_file_makes_it_fail(content):
    instead(content)


def test_readers_of_datasets_say_it_too(tmp_path, monkeypatch):
    from core import datasets
    from core.errors import DatasetDamaged

    page = formats.PAGE
    path = tmp_path / "examples"
    path.write_bytes(KINDS[page]())
    told = f"It is {page.text}: {page.cure}"
    with pytest.raises(DatasetDamaged, match=told):
        datasets.open_pickle_dataset(path)
    with pytest.raises(DatasetDamaged, match=told):
        datasets.ImageDataset([str(path)])[0]
    with pytest.raises(DatasetDamaged, match=told):
        datasets.ZippedImageDataset(path)
    monkeypatch.setenv("PLUGRAD_DATASET_ROOT", str(tmp_path))
    for dataset, name, get in (
        ("mnist", "train-images-idx3-ubyte.gz", datasets.get_mnist),
        ("svhn", "train_32x32.mat", datasets.get_svhn),
        ("cifar", "cifar-10-binary.tar.gz", datasets.get_cifar10),
    ):
        (tmp_path / dataset).mkdir()
        (tmp_path / dataset / name).write_bytes(KINDS[page]())
        with (
            pytest.warns(UserWarning),
            pytest.raises(DatasetDamaged, match=told),
        ):
            get()
