"""MNIST and its kin, from small files in the published format."""

import gzip
import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

import core
from core import datasets as D
from core.dataset import download
from core.errors import DatasetDamaged, DatasetMissing, DownloadError
from plugins.datasets import mnist
from plugins.datasets.found_files import UnofficialFileWarning

READERS = {
    "mnist": D.get_mnist,
    "fashion-mnist": D.get_fashion_mnist,
    "kuzushiji_mnist": D.get_kuzushiji_mnist,
}
FAMILIES = {"mnist": "_MNIST", "fashion-mnist": "_FASHION", "kuzushiji_mnist": "_KUZUSHIJI"}
RNG = np.random.default_rng(0)
IMAGES = {
    "train": RNG.integers(0, 256, (7, 28, 28), "u1"),
    "t10k": RNG.integers(0, 256, (3, 28, 28), "u1"),
}
IMAGES["train"][0, 0, :3] = 172, 47, 117
LABELS = {"train": np.arange(7, dtype="u1"), "t10k": np.array([9, 0, 9], "u1")}


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def contents():
    found = {}
    for part in ("train", "t10k"):
        found[f"{part}-images-idx3-ubyte"] = idx(IMAGES[part])
        found[f"{part}-labels-idx1-ubyte"] = idx(LABELS[part])
    return found


def put(folder, zipped=False):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents().items():
        if zipped:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


@pytest.mark.parametrize("name", READERS)
def test_files_as_they_are_unpacked(root, name):
    put(root / name)
    train, test = READERS[name]()
    assert (len(train), len(test)) == (7, 3)
    image, label = train[0]
    assert (image.shape, image.dtype, label.dtype, label) == ((784,), np.float32, np.int32, 0)
    # What Chainer 7.8.1 made of these bytes.
    assert image[:3].tolist() == [0.6745098233222961, 0.18431372940540314, 0.458823561668396]
    assert [int(t) for _, t in test[:]] == [9, 0, 9]
    images, _ = READERS[name](withlabel=False, ndim=2, scale=255.0)
    np.testing.assert_allclose(images, IMAGES["train"], rtol=1e-6)


def test_files_as_they_are_published_are_compared_with_the_digest(root):
    put(root / "mnist", zipped=True)
    with pytest.warns(UnofficialFileWarning, match=r"digest is md5:.* not md5:") as caught:
        train, _ = D.get_mnist()
    assert "f68b3c2dcbeaaa9fbdd348bbdeb94873" in str(caught[0].message)
    assert train[0][0][0] == np.float32(0.6745098233222961)


@pytest.mark.parametrize(
    ("ndim", "rgb", "shape"),
    [
        (1, False, (784,)),
        (2, False, (28, 28)),
        (3, False, (1, 28, 28)),
        (3, True, (3, 28, 28)),
        (1, True, (784,)),
    ],
)
def test_forms(root, ndim, rgb, shape):
    put(root / "mnist")
    images, _ = D.get_mnist(withlabel=False, ndim=ndim, rgb_format=rgb, dtype="f8", scale=2.0)
    assert images.shape == (7, *shape) and images.dtype == np.float64
    pixels = images.reshape(7, -1, 28, 28)
    for channel in range(pixels.shape[1]):
        np.testing.assert_array_equal(pixels[:, channel], IMAGES["train"] * (2.0 / 255.0))
    train, _ = D.get_mnist(ndim=ndim, rgb_format=rgb, label_dtype="i8")
    assert train[0][1].dtype == np.int64
    with core.using_config("dtype", "float16"):
        assert D.get_mnist(withlabel=False)[0].dtype == np.float16
    with pytest.raises(ValueError, match="get_mnist: expected ndim 1, 2 or 3, got 4"):
        D.get_mnist(ndim=4)


def test_what_chainer_kept(root):
    folder = root / "pfnet" / "chainer" / "mnist"
    folder.mkdir(parents=True)
    for part, name in (("train", "train"), ("t10k", "test")):
        np.savez(folder / f"{name}.npz", x=IMAGES[part].reshape(-1, 784), y=LABELS[part])
    kept = D.get_mnist(withlabel=False)
    put(root / "mnist")
    for one, other in zip(kept, D.get_mnist(withlabel=False), strict=True):
        np.testing.assert_array_equal(one, other)
    for path in (root / "mnist").iterdir():
        path.unlink()
    (folder / "train.npz").write_bytes(b"PK\3\4 and nothing else")
    with pytest.raises(DatasetDamaged, match=r"train\.npz is damaged"):
        D.get_mnist()


@pytest.mark.parametrize("name", READERS)
def test_absent_files_are_named_with_the_ways_to_them(root, name):
    with pytest.raises(DatasetMissing) as caught:
        READERS[name]()
    said = str(caught.value)
    who = READERS[name].__name__
    assert isinstance(caught.value, FileNotFoundError)
    assert f"{who}: there is no train-images-idx3-ubyte.gz or train-images-idx3-ubyte in" in said
    assert str(root / name) in said and f"{who}(download=True), which gets http" in said
    assert "PLUGRAD_DATASET_ROOT" in said and not root.exists()


def spoilt(content):
    """Ways in which a file may be wrong, and what is said then."""
    yield content[:-1], "expected .* bytes after the head, got"
    yield content[:6], "bytes after the head, got 0"
    yield content + b"x", "after the head, got more"
    yield b"\0\0\x0d" + content[3:], "begins with"
    yield b"", "begins with"
    yield content[:4] + b"\xff" * 12 + content[16:], "after the head"
    zipped = gzip.compress(content)
    yield zipped[:-9], "is damaged.*Get it again"
    yield zipped[:-8] + b"12345678", "is damaged"


@pytest.mark.parametrize("case", range(8))
def test_broken_images_are_refused(root, case):
    put(root / "mnist")
    path = root / "mnist" / "train-images-idx3-ubyte"
    content, said = list(spoilt(path.read_bytes()))[case]
    path.write_bytes(content)
    with pytest.raises(DatasetDamaged, match=said) as caught:
        D.get_mnist()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("train-labels-idx1-ubyte", np.zeros(6, "u1"), r"a label for each of 7 images, got \[6\]"),
        ("train-labels-idx1-ubyte", np.full(7, 10, "u1"), "labels from 0 to 9, got 10 to 10"),
        ("train-labels-idx1-ubyte", IMAGES["train"], "with 1 axes"),
        ("train-images-idx3-ubyte", np.zeros((7, 28, 27), "u1"), r"uint8\[28, 28\]"),
        ("train-images-idx3-ubyte", np.zeros((0, 28, 28), "u1"), "each of 0 images"),
    ],
)
def test_files_that_do_not_fit_are_refused(root, name, array, said):
    put(root / "mnist")
    (root / "mnist" / name).write_bytes(idx(array))
    with pytest.raises(DatasetDamaged, match=said):
        D.get_mnist()


@pytest.fixture
def published(server, monkeypatch):
    """The small files as if they were the published ones, on the server."""
    digests = {}
    for name, content in contents().items():
        server.files[f"{name}.gz"] = gzip.compress(content)
        digests[name] = hashlib.md5(server.files[f"{name}.gz"]).hexdigest()
    for name, family in FAMILIES.items():
        mine = {
            part: tuple(d for n, d in digests.items() if n.startswith(prefix))
            for part, prefix in (("train", "train"), ("test", "t10k"))
        }
        changed = getattr(mnist, family)._replace(url=server.url, digests=mine)
        monkeypatch.setattr(mnist, family, changed)
        assert changed.folder == name
    return server


@pytest.mark.parametrize("name", READERS)
def test_a_download_when_asked_for_and_never_again(root, published, name):
    with pytest.raises(DatasetMissing):
        READERS[name]()
    assert published.asked == []
    train, test = READERS[name](download=True)
    assert (len(train), len(test)) == (7, 3) and len(published.asked) == 4
    READERS[name](download=True)
    train, _ = READERS[name]()
    assert train[0][0][0] == np.float32(0.6745098233222961)
    assert len(published.asked) == 4


def test_a_download_that_is_damaged_later_is_got_again(root, published):
    D.get_mnist(download=True)
    damaged = Path(download.cached_path(f"{published.url}train-images-idx3-ubyte.gz"))
    damaged.write_bytes(damaged.read_bytes()[:-6])
    with pytest.raises(DatasetMissing, match=r"get_mnist\(download=True\)"):
        D.get_mnist()
    train, _ = D.get_mnist(download=True)
    assert len(train) == 7 and len(published.asked) == 5


def test_only_what_is_missing_is_downloaded(root, published):
    put(root / "mnist")
    (root / "mnist" / "t10k-labels-idx1-ubyte").unlink()
    D.get_mnist(download=True)
    assert published.asked == ["t10k-labels-idx1-ubyte.gz"]


def test_a_download_with_another_digest_is_refused(root, published):
    other = gzip.compress(idx(IMAGES["train"]), 1) + b"\0"
    published.files["train-images-idx3-ubyte.gz"] = other
    with pytest.raises(DownloadError, match="gave another file than expected"):
        D.get_mnist(download=True)
    assert not [path for path in root.rglob("*") if path.is_file()]


def test_names_of_classes():
    assert len(D.get_fashion_mnist_labels()) == len(D.get_kuzushiji_mnist_labels()) == 10
    assert D.get_fashion_mnist_labels()[9] == "Ankle boot"
    assert D.get_kuzushiji_mnist_labels()[3] == ("tsu", "つ")
