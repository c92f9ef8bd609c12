"""Datasets of images in files and in zip archives."""

import multiprocessing
import pickle
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import core
from core import datasets as D
from core.errors import DatasetDamaged, DatasetMissing, InvalidSetting
from core.iterators import MultiprocessIterator, MultithreadIterator

Image = pytest.importorskip("PIL.Image")

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4)
COLOUR = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)


@pytest.fixture
def folder(tmp_path):
    Image.fromarray(GREY).save(tmp_path / "grey.png")
    Image.fromarray(COLOUR).save(tmp_path / "colour image.png")
    (tmp_path / "none.png").write_text("not an image")
    whole = (tmp_path / "grey.png").read_bytes()
    (tmp_path / "half.png").write_bytes(whole[: len(whole) // 2])
    return tmp_path


@pytest.fixture
def archive(folder):
    path = folder / "images.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("sub/", "")
        file.write(folder / "grey.png", "sub/grey.png")
        file.write(folder / "colour image.png", "colour image.png")
    return path


def check_images(dataset):
    assert len(dataset) == 2
    grey, colour = dataset[:]
    assert grey.dtype == colour.dtype == np.float32
    np.testing.assert_array_equal(grey, GREY[None])
    np.testing.assert_array_equal(colour, COLOUR.transpose(2, 0, 1))


def test_images_from_a_list_and_from_a_file_of_paths(folder):
    names = ["grey.png", "colour image.png"]
    check_images(D.ImageDataset(names, root=folder))
    check_images(D.ImageDataset([folder / name for name in names]))
    (folder / "list.txt").write_text("grey.png\n\n  colour image.png \n")
    check_images(D.ImageDataset(str(folder / "list.txt"), folder))
    check_images(D.ImageDataset(folder / "list.txt", str(folder)))


def test_labels_from_a_list_and_from_a_file(folder):
    (folder / "pairs.txt").write_text("grey.png 3\ncolour image.png\t-1\n")
    for pairs in (folder / "pairs.txt", [("grey.png", 3), ("colour image.png", -1)]):
        dataset = D.LabeledImageDataset(pairs, folder)
        check_images(D.TransformDataset(dataset, lambda pair: pair[0]))
        labels = [label for _, label in dataset[:]]
        assert [int(label) for label in labels] == [3, -1]
        assert all(label.dtype == np.int32 and label.shape == () for label in labels)
    assert D.LabeledImageDataset([("grey.png", 3)], folder, label_dtype="f4")[0][1].dtype == "f4"


def test_images_from_archives(archive):
    check_images(D.ZippedImageDataset(archive))
    twice = D.MultiZippedImageDataset([archive, str(archive)])
    check_images(twice[:2])
    check_images(twice[2:])
    labels = archive.parent / "labels.txt"
    labels.write_text("sub/grey.png 5\ncolour image.png 6\n")
    labeled = D.LabeledZippedImageDataset(archive, labels)
    check_images(D.TransformDataset(labeled, lambda pair: pair[0]))
    assert [(int(t), t.dtype) for _, t in labeled[:]] == [(5, np.int32), (6, np.int32)]


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8"])
def test_dtypes(archive, dtype):
    assert D.ZippedImageDataset(archive, dtype)[0].dtype == dtype
    assert D.ImageDataset(["grey.png"], archive.parent, dtype)[0].dtype == dtype


def test_the_dtype_of_the_configuration(archive):
    with core.using_config("dtype", "float16"):
        assert D.ZippedImageDataset(archive)[0].dtype == np.float16
        assert D.ImageDataset(["grey.png"], archive.parent)[0].dtype == np.float16


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("none.png", DatasetDamaged, "cannot be read as an image"),
        ("half.png", DatasetDamaged, "cannot be read as an image"),
        ("nowhere.png", DatasetMissing, "nowhere.png"),
    ],
)
def test_files_that_are_no_images_are_named(folder, name, kind, text):
    for dataset in (
        D.ImageDataset([name], folder),
        D.LabeledImageDataset([(name, 0)], folder),
    ):
        with pytest.raises(kind, match=text) as caught:
            dataset[0]
        assert str(folder / name) in str(caught.value)
        assert type(dataset).__name__ in str(caught.value)


def test_archives_that_are_broken_are_named(folder, archive):
    with zipfile.ZipFile(archive, "a") as file:
        file.write(folder / "none.png", "none.png")
    with pytest.raises(DatasetDamaged, match=r"none\.png in .*images\.zip cannot be read"):
        D.ZippedImageDataset(archive)[2]
    labeled = D.LabeledZippedImageDataset(archive, [("other.png", 1)])
    with pytest.raises(DatasetMissing, match=r"there is no other\.png in"):
        labeled[0]
    content = bytearray(archive.read_bytes())
    content[60] ^= 0xFF  # in the first image
    archive.write_bytes(content)
    with pytest.raises(DatasetDamaged, match="is damaged"):
        D.ZippedImageDataset(archive)[0]
    archive.write_bytes(content[:-30])
    with pytest.raises(DatasetDamaged, match="not a whole zip archive"):
        D.ZippedImageDataset(archive)


@pytest.mark.parametrize(
    "make",
    [
        D.TextDataset,
        D.open_pickle_dataset,
        D.ZippedImageDataset,
        D.ImageDataset,
        lambda path: D.MultiZippedImageDataset([path]),
        lambda path: D.LabeledZippedImageDataset(path, [("a.png", 1)])[0],
    ],
)
def test_a_file_that_is_not_there_is_named_with_the_nearest(make, tmp_path):
    (tmp_path / "examples").touch()
    with pytest.raises(DatasetMissing, match=r"\w: there is no file .*Did you mean 'examples'"):
        make(tmp_path / "exmaples")
    with pytest.raises(DatasetMissing, match="nowhere, which has none"):
        make(tmp_path / "nowhere" / "examples")


def test_a_list_that_begins_with_a_mark_of_its_encoding(folder):
    """As editors on Windows write them: the mark was taken for the beginning of the first path."""
    path = folder / "pairs.txt"
    path.write_text("grey.png 3\n", encoding="utf-8-sig")
    assert int(D.LabeledImageDataset(path, folder)[0][1]) == 3


@pytest.mark.parametrize("label", [0.75, np.float32(1.5), np.float64(-2.25)])
def test_labels_that_are_no_whole_numbers_need_a_dtype(folder, label):
    """They were cut off: every target from 0 to 1 was 0."""
    with pytest.raises(ValueError, match="LabeledImageDataset.*label_dtype"):
        D.LabeledImageDataset([("grey.png", label)], folder)[0]
    floats = D.LabeledImageDataset([("grey.png", label)], folder, label_dtype="f4")
    assert floats[0][1] == label
    assert D.LabeledImageDataset([("grey.png", 2.0)], folder)[0][1] == 2


@pytest.mark.parametrize("kind", [int, np.int64, np.array])
@pytest.mark.parametrize(("label", "dtype"), [(300, "u1"), (-1, "u1"), (200, "i1"), (2**40, None)])
def test_labels_that_a_dtype_cannot_hold_are_refused(folder, kind, label, dtype):
    """Those of NumPy's were others: 300 in uint8 was 44."""
    settings = {} if dtype is None else {"label_dtype": dtype}
    with pytest.raises(ValueError, match="LabeledImageDataset: expected labels that .* can hold"):
        D.LabeledImageDataset([("grey.png", kind(label))], folder, **settings)[0]


@pytest.mark.parametrize(
    ("value", "dtype", "into"),
    [
        (40000, "u2", "uint8"),
        (0.5, "f4", "uint8"),
        (65535, "u2", "float16"),
        (1e6, "f4", "float16"),
    ],
)
def test_values_that_a_dtype_cannot_hold_are_refused(folder, value, dtype, into):
    """Of 16 bits the lower eight were left, of fractions nothing, infinity in float16."""
    Image.fromarray(np.full((3, 4), value, dtype)).save(folder / "deep.tiff")
    assert D.ImageDataset(["deep.tiff"], folder)[0].max() == value
    with pytest.raises(
        ValueError, match=rf"expected images that {into} can hold, got .* in .*deep"
    ):
        D.ImageDataset(["deep.tiff"], folder, dtype=into)[0]


@pytest.mark.parametrize("dataset", [D.ImageDataset, D.LabeledImageDataset])
def test_a_folder_is_no_list_of_images(folder, dataset):
    with pytest.raises(IsADirectoryError, match=f"{dataset.__name__}: .* got the folder .*glob"):
        dataset(folder)


def test_what_is_no_pair_of_image_and_label_is_told(folder):
    with pytest.raises(ValueError, match="too many") as caught:
        D.LabeledImageDataset([("grey.png", 1, 2)], folder)
    assert "LabeledImageDataset: expected pairs" in caught.value.__notes__[0]


@pytest.mark.parametrize("line", ["grey.png", "grey.png x", "grey.png 1.5"])
def test_a_line_without_a_label_is_named(folder, line):
    (folder / "pairs.txt").write_text(f"grey.png 1\n{line}\n")
    with pytest.raises(DatasetDamaged, match=r"integer label in line 2 of .*pairs\.txt"):
        D.LabeledImageDataset(folder / "pairs.txt", folder)


def test_without_pillow_the_extra_is_named(folder):
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "from core.datasets import ImageDataset\n"
        f"ImageDataset(['grey.png'], {str(folder)!r})[0]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImageDataset needs the library PIL" in done.stderr
    assert "pip install 'plugrad[image]'" in done.stderr


@pytest.mark.parametrize(("place", "value"), [(6, 1), (8, 97)])
def test_files_with_a_password_or_packed_otherwise_are_named(archive, place, value):
    data = bytearray(archive.read_bytes())
    for header, later in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):  # in both places
        for at in range(len(data)):
            if data.startswith(header, at):
                data[at + place + later] = value
    archive.write_bytes(data)
    with pytest.raises(DatasetDamaged, match=r"sub/grey.png in .*images.zip .*cannot be unpacked"):
        D.ZippedImageDataset(archive)[0]


def test_images_that_are_too_large_to_be_true_are_named(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 5)
    with pytest.raises(DatasetDamaged, match="grey.png cannot be read .*: .*exceeds limit"):
        D.ImageDataset(["grey.png"], folder)[0]


def test_threads_share_an_archive(archive):
    dataset = D.MultiZippedImageDataset([archive] * 20)
    with MultithreadIterator(dataset, 40, shuffle=False, n_threads=8) as iterator:
        for _ in range(5):
            for start in range(0, 40, 2):
                check_images(iterator.next()[start : start + 2])


def test_processes_open_an_archive_for_themselves(archive):
    dataset = D.ZippedImageDataset(archive)
    check_images(dataset)
    check_images(pickle.loads(pickle.dumps(dataset)))
    with MultiprocessIterator(dataset, 2, shuffle=False, n_processes=2) as iterator:
        check_images(iterator.next())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_reads_from_a_place_of_its_own(archive):
    dataset = D.ZippedImageDataset(archive)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(dataset.__getitem__, [0, 1] * 50, chunksize=1)
        mine = [dataset[i % 2] for i in range(100)]
        for one, other in zip(found.get(30), mine, strict=True):
            np.testing.assert_array_equal(one, other)
    assert threading.active_count() < 20


@pytest.mark.parametrize(
    "make",
    [
        lambda: D.ImageDataset([3]),
        lambda: D.ImageDataset(None),
        lambda: D.ImageDataset(["a.png"], root=3),
        lambda: D.LabeledImageDataset([("a.png", 1)], root=None),
        lambda: D.ZippedImageDataset(3),
        lambda: D.MultiZippedImageDataset("a.zip"),
        lambda: D.LabeledZippedImageDataset(b"a.zip", []),
    ],
)
def test_what_is_no_path_is_refused_at_the_door(make):
    with pytest.raises(InvalidSetting, match=r"Dataset: expected (paths|root|zipfilenames?) to be"):
        make()


def test_what_is_no_path_beside_a_label_is_named():
    with pytest.raises(TypeError, match=r"expected pairs \(path, label\), got 3 as a path"):
        D.LabeledImageDataset([("a.png", 1), (3, 4)])
