"""The Penn Treebank and SVHN, from small files in the published formats."""

import hashlib

import numpy as np
import pytest

from core import datasets as D
from core.errors import DatasetDamaged, DatasetMissing, DownloadError
from plugins.datasets import ptb, svhn
from plugins.datasets.found_files import UnofficialFileWarning

TEXTS = {"train": " a b <unk> \n c a\n", "valid": " a c\n b\n", "test": "b b\n"}
VOCABULARY = {"a": 0, "b": 1, "<unk>": 2, "<eos>": 3, "c": 4}
WORDS = ([0, 1, 2, 3, 4, 0, 3], [0, 4, 3, 1, 3], [1, 1, 3])  # as Chainer 7.8.1 numbers them


def put(folder, texts=TEXTS):
    folder.mkdir(parents=True, exist_ok=True)
    for part, text in texts.items():
        (folder / f"ptb.{part}.txt").write_text(text)


@pytest.mark.parametrize("folder", ["ptb", "ptb/simple-examples/data"])
def test_words(root, folder):
    put(root / folder)
    parts = D.get_ptb_words()
    assert tuple(part.tolist() for part in parts) == WORDS
    assert {part.dtype for part in parts} == {np.dtype("int32")}
    assert D.get_ptb_words_vocabulary() == VOCABULARY


def test_words_that_chainer_kept(root):
    folder = root / "pfnet" / "chainer" / "ptb"
    folder.mkdir(parents=True)
    for part, numbers in zip(TEXTS, WORDS, strict=True):
        np.savez(folder / f"{part}.npz", x=np.array(numbers, "i4"))
    with pytest.raises(DatasetMissing):
        D.get_ptb_words()
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in VOCABULARY))
    assert tuple(part.tolist() for part in D.get_ptb_words()) == WORDS
    assert D.get_ptb_words_vocabulary() == VOCABULARY


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a d\n", "ptb.valid.txt has the word 'd', which ptb.train.txt lacks"),
        (b"", "expected lines of words, got an empty file"),
        (b"a \xff\n", "in line 1 of .*Get the file again"),
    ],
)
def test_texts_that_do_not_fit_are_refused(root, text, said):
    put(root / "ptb")
    (root / "ptb" / "ptb.valid.txt").write_bytes(text)
    with pytest.raises(DatasetDamaged, match=said):
        D.get_ptb_words()


@pytest.mark.parametrize("call", [D.get_ptb_words, D.get_ptb_words_vocabulary])
def test_absent_texts_are_named_and_downloaded_when_asked_for(root, server, monkeypatch, call):
    monkeypatch.setattr(ptb, "_URL", server.url)
    with pytest.raises(DatasetMissing) as caught:
        call()
    who = call.__name__
    assert f"{who}: there is no ptb.train.txt or simple-examples/data/ptb" in str(caught.value)
    assert f"{who}(download=True)" in str(caught.value) and server.asked == []
    server.files |= {f"ptb.{part}.txt": text.encode() for part, text in TEXTS.items()}
    first = call(download=True)
    assert str(first) == str(call())
    assert len(server.asked) == (3 if call is D.get_ptb_words else 1)


# -- SVHN --------------------------------------------------------------------------------------

io = pytest.importorskip("scipy.io")
COUNTS = {"train": 11, "test": 4, "extra": 2}


def pictures(part):
    rng = np.random.default_rng(COUNTS[part])
    images = rng.integers(0, 256, (32, 32, 3, COUNTS[part]), "u1")
    return images, (np.arange(COUNTS[part]) % 10 + 1).astype("u1")[:, None]


@pytest.fixture
def matlab(root):
    folder = root / "svhn"
    folder.mkdir(parents=True)
    for part in COUNTS:
        x, y = pictures(part)
        io.savemat(folder / f"{part}_32x32.mat", {"X": x, "y": y}, do_compression=True)
    return folder


def check(parts):
    for part, found in zip(COUNTS, parts, strict=False):
        x, y = pictures(part)
        images = np.stack([image for image, _ in found[:]])
        expected = x.transpose(3, 2, 0, 1).astype("f") * np.float32(1 / 255)
        np.testing.assert_array_equal(images, expected)
        labels = [label for _, label in found[:]]
        assert [int(t) for t in labels] == [int(t) % 10 for t in y[:, 0]]
        assert labels[0].dtype == np.int32


def test_house_numbers(matlab):
    with pytest.warns(UnofficialFileWarning):
        check(D.get_svhn())
        parts = D.get_svhn(add_extra=True)
        assert len(parts) == 3
        check(parts)
        images, _ = D.get_svhn(withlabel=False, scale=255.0, dtype="f8")
        assert images.shape == (11, 3, 32, 32) and images.dtype == np.float64
        assert D.get_svhn(label_dtype="i8")[0][0][1].dtype == np.int64


def test_house_numbers_that_chainer_kept(root):
    folder = root / "pfnet" / "chainer" / "svhn"
    folder.mkdir(parents=True)
    for part in COUNTS:
        x, y = pictures(part)
        np.savez(folder / f"{part}.npz", x=x, y=y)
    check(D.get_svhn(add_extra=True))


@pytest.mark.filterwarnings("ignore::plugins.datasets.found_files.UnofficialFileWarning")
def test_house_numbers_that_are_broken_are_refused(matlab):
    path = matlab / "train_32x32.mat"
    whole = path.read_bytes()
    x, y = pictures("train")
    wrong = {
        r"a label for each of 11 images, got \[10\]": {"X": x, "y": y[1:]},
        r"expected images of uint8\[3, 32, 32\]": {"X": x[:, :, :2], "y": y},
        "labels from 0 to 9": {"X": x, "y": y + 1},
        "expected 4 and 2 axes": {"X": x[0], "y": y},
        "KeyError: 'y'": {"X": x},
    }
    for said, content in wrong.items():
        io.savemat(path, content)
        with pytest.raises(DatasetDamaged, match=said):
            D.get_svhn()
    for content in (whole[: len(whole) // 2], whole[:50], b"", b"no matrix" * 99):
        path.write_bytes(content)
        with pytest.raises(DatasetDamaged, match=r"train_32x32\.mat is damaged"):
            D.get_svhn()


def test_absent_house_numbers_are_downloaded_when_asked_for(matlab, server, monkeypatch):
    path = matlab / "test_32x32.mat"
    server.files[path.name] = path.read_bytes()
    path.unlink()
    monkeypatch.setattr(svhn, "_URL", server.url)
    with pytest.warns(UnofficialFileWarning):
        with pytest.raises(DatasetMissing, match=r"there is no test_32x32\.mat"):
            D.get_svhn()
        with pytest.raises(DownloadError, match="gave another file than expected"):
            D.get_svhn(download=True)
        digest = hashlib.md5(server.files[path.name]).hexdigest()
        monkeypatch.setitem(svhn._DIGESTS, "test", digest)
        check(D.get_svhn(download=True))
        check(D.get_svhn())
    assert server.asked == [path.name] * 2
