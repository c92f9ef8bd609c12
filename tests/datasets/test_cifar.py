"""CIFAR-10 and CIFAR-100, from small files in the published formats."""

import hashlib
import io
import os
import pickle
import tarfile

import numpy as np
import pytest

from core import datasets as D
from core.errors import DatasetDamaged, DatasetMissing, DownloadError
from plugins.datasets import cifar, plain_pickle
from plugins.datasets.found_files import UnofficialFileWarning

RNG = np.random.default_rng(0)
BATCHES = [f"data_batch_{i}" for i in range(1, 6)]
NAMES = {10: (BATCHES, "test_batch"), 100: (["train"], "test")}
READERS = {10: D.get_cifar10, 100: D.get_cifar100}
COUNT = 4


def examples(classes):
    """File name -> (pixels, labels)."""
    train, test = NAMES[classes]
    rng = np.random.default_rng(classes)
    return {
        name: (rng.integers(0, 256, (COUNT, 3072), "u1"), rng.integers(0, classes, COUNT, "u1"))
        for name in (*train, test)
    }


def binary(classes):
    folder = {10: "cifar-10-batches-bin", 100: "cifar-100-binary"}[classes]
    found = {}
    for name, (pixels, labels) in examples(classes).items():
        columns = [labels[:, None], pixels]
        if classes == 100:
            columns.insert(0, labels[:, None] // 5)
        found[f"{folder}/{name}.bin"] = np.concatenate(columns, 1).tobytes()
    return found


def python2(pixels, labels, name):
    """A pickle as Python 2 wrote the published ones: protocol 2, strings of bytes."""

    def text(value):
        return b"U" + bytes([len(value)]) + value.encode()

    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\0tU\1btR(K\1"
        + b"("
        + b"".join(b"J" + int(n).to_bytes(4, "little") for n in pixels.shape)
        + b"t"
        + b"cnumpy\ndtype\n(U\2u1K\0K\1tR(K\3U\1|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"
        + b"\x89T"
        + pixels.size.to_bytes(4, "little")
        + pixels.tobytes()
        + b"tb"
    )
    numbers = b"](" + b"".join(b"K" + bytes([n]) for n in labels) + b"e"
    entries = text("batch_label") + text("one") + text("data") + array + text(name) + numbers
    return b"\x80\2}(" + entries + b"u."


def python(classes, write=python2):
    folder = {10: "cifar-10-batches-py", 100: "cifar-100-python"}[classes]
    name = {10: "labels", 100: "fine_labels"}[classes]
    return {f"{folder}/{file}": write(*pair, name) for file, pair in examples(classes).items()}


def tar(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        for name, content in {"readme.html": b"<p>", **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def unpack(root, files):
    for name, content in files.items():
        path = root / "cifar" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def check(classes):
    given = examples(classes)
    names, last = NAMES[classes]
    train, test = READERS[classes]()
    for part, files in ((train, names), (test, [last])):
        pixels = np.concatenate([given[name][0] for name in files])
        images = np.stack([x for x, _ in part[:]])
        assert images.dtype == np.float32
        expected = pixels.astype("f") * np.float32(1 / 255)
        np.testing.assert_array_equal(images, expected.reshape(-1, 3, 32, 32))
        labels = np.concatenate([given[name][1] for name in files])
        assert [int(t) for _, t in part[:]] == labels.tolist()
        assert part[0][1].dtype == np.int32


@pytest.mark.parametrize("classes", [10, 100])
@pytest.mark.parametrize("version", [binary, python])
def test_unpacked_folders(root, classes, version):
    unpack(root, version(classes))
    check(classes)


@pytest.mark.parametrize("classes", [10, 100])
@pytest.mark.parametrize("version", [binary, python])
def test_archives(root, classes, version):
    (root / "cifar").mkdir(parents=True)
    path = root / "cifar" / f"cifar-{classes}-{version.__name__}.tar.gz"
    path.write_bytes(tar(version(classes)))
    with pytest.warns(UnofficialFileWarning, match="is not the file that was published"):
        check(classes)


@pytest.mark.parametrize("classes", [10, 100])
def test_what_chainer_kept(root, classes):
    folder = root / "pfnet" / "chainer" / "cifar"
    folder.mkdir(parents=True)
    pairs = list(examples(classes).values())
    (x, y), (test_x, test_y) = map(np.concatenate, zip(*pairs[:-1], strict=True)), pairs[-1]
    path = folder / f"cifar-{classes}.npz"
    np.savez(path, train_x=x, train_y=y, test_x=test_x, test_y=test_y)
    check(classes)
    np.savez(path, train_x=x)
    with pytest.raises(DatasetDamaged, match="train_y"):
        READERS[classes]()


def test_forms(root):
    unpack(root, binary(10))
    flat, _ = D.get_cifar10(withlabel=False, ndim=1, scale=255.0, dtype="f2")
    assert flat.shape == (20, 3072) and flat.dtype == np.float16
    np.testing.assert_array_equal(flat[:4], examples(10)["data_batch_1"][0])
    with pytest.raises(ValueError, match="get_cifar100: expected ndim 1 or 3, got 2"):
        D.get_cifar100(ndim=2)


@pytest.mark.parametrize("protocol", [4, 5])
def test_pickles_of_todays_python_are_read_as_well(root, protocol):
    def today(pixels, labels, name):
        found = {b"data": np.asfortranarray(pixels), name.encode(): labels.tolist()}
        return pickle.dumps(found, protocol)

    unpack(root, python(10, today))
    check(10)


@pytest.mark.parametrize("classes", [10, 100])
def test_absent_files_are_named(root, classes):
    with pytest.raises(DatasetMissing) as caught:
        READERS[classes]()
    said = str(caught.value)
    for part in (
        f"get_cifar{classes}: there is no cifar-{classes}-binary.tar.gz or cifar-{classes}-python",
        str(root / "cifar"),
        f"get_cifar{classes}(download=True), which gets https://",
    ):
        assert part in said
    unpack(root, dict(list(binary(classes).items())[1:]))
    with pytest.raises(DatasetMissing):
        READERS[classes]()


def first_file(root, files, content):
    name = next(iter(files))
    unpack(root, {**files, name: content})
    return name


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: b"", lambda c: c + b"12"])
def test_broken_records_are_refused(root, change):
    files = binary(10)
    name = first_file(root, files, change(next(iter(files.values()))))
    with pytest.raises(DatasetDamaged, match="records of 3073 bytes") as caught:
        D.get_cifar10()
    assert name in str(caught.value)


def test_labels_out_of_range_are_refused(root):
    files = binary(10)
    first_file(root, files, b"\x0a" + next(iter(files.values()))[1:])
    with pytest.raises(DatasetDamaged, match="labels from 0 to 9, got . to 10"):
        D.get_cifar10()


SYSTEM = f"it asks for {os.system.__module__}.system"


class Evil:
    def __reduce__(self):
        return os.system, ("touch harm",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (pickle.dumps(Evil()), SYSTEM),
        (
            pickle.dumps({"data": Evil(), "labels": []}, 0),
            SYSTEM,
        ),
        (pickle.dumps({b"data": np.zeros((4, 3072))}), "expected arrays of bytes, got 'f8'"),
        (pickle.dumps({b"data": np.array([{}], object)}), "expected arrays of bytes"),
        (pickle.dumps({b"data": np.zeros((2, 3, 4), "u1").transpose(1, 0, 2)}, 5), "expected"),
        (pickle.dumps({b"labels": [1]}), "expected pixels and labels"),
        (pickle.dumps([1]), "expected pixels and labels"),
        (pickle.dumps({b"data": np.zeros((1, 3072), "u1"), b"labels": [-1]}), "pixels and labels"),
        (pickle.dumps({b"data": np.zeros((1, 3), "u1"), b"labels": [1]}), r"uint8\[3072\], got"),
        (b"", "EOFError"),
        (b"no pickle", "UnpicklingError"),
    ],
)
def test_pickles_of_anything_else_are_refused_and_not_run(root, content, said, monkeypatch):
    root.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(root)
    name = first_file(root, python(10), content)
    with pytest.raises(DatasetDamaged, match=said) as caught:
        D.get_cifar10()
    assert name in str(caught.value)
    assert not (root / "harm").exists()


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_written_anew_by_python_3(protocol):
    pixels = np.arange(6, dtype="u1").reshape(2, 3)
    content = {b"data": pixels, b"labels": [1, 2], b"note": b""}
    found = plain_pickle.load(pickle.dumps(content, protocol), "it")
    np.testing.assert_array_equal(found.pop(b"data"), pixels)
    assert found == {b"labels": [1, 2], b"note": b""}


def test_truncated_pickles_are_refused():
    content = python2(*examples(10)["test_batch"], "labels")
    assert plain_pickle.load(content, "it")[b"batch_label"] == b"one"
    for length in (*range(200), *range(200, len(content), 997)):
        with pytest.raises(DatasetDamaged, match="it is damaged"):
            plain_pickle.load(content[:length], "it")


@pytest.mark.filterwarnings("ignore::plugins.datasets.found_files.UnofficialFileWarning")
def test_broken_archives_are_refused(root):
    (root / "cifar").mkdir(parents=True)
    path = root / "cifar" / "cifar-10-binary.tar.gz"
    whole = tar(binary(10))
    lacking = tar(dict(list(binary(10).items())[1:]))
    for content, said in (
        (whole[: len(whole) // 2], "is damaged"),
        (b"no archive", "is damaged"),
        (lacking, "expected files cifar-10-batches-bin/data_batch_1.bin in it"),
    ):
        path.write_bytes(content)
        with pytest.raises(DatasetDamaged, match=said) as caught:
            D.get_cifar10()
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("classes", [10, 100])
def test_a_download_when_asked_for(root, server, monkeypatch, classes):
    content = tar(binary(classes))
    version = cifar._VERSIONS[classes][0]
    name = version.archive.name
    server.files[name] = content
    digest = f"md5:{hashlib.md5(content).hexdigest()}"
    archive = version.archive._replace(url=server.url + name, digest=digest)
    rest = cifar._VERSIONS[classes][1:]
    monkeypatch.setitem(cifar._VERSIONS, classes, (version._replace(archive=archive), *rest))
    server.broken.add(name)
    with pytest.raises(DownloadError, match="broke off"):
        READERS[classes](download=True)
    with pytest.raises(DatasetMissing):
        READERS[classes]()
    server.broken.clear()
    READERS[classes](download=True)
    check(classes)
    assert len(server.asked) == 2
