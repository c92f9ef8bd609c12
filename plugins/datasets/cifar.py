"""CIFAR-10 and CIFAR-100: photographs of 32x32 pixels in ten or a hundred classes."""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.dataset import cached_download, get_dataset_directory
from core.errors import DatasetDamaged
from core.errors.kinds import checked
from core.typing import DType
from plugins.datasets import image_arrays, plain_pickle
from plugins.datasets.found_files import Published, arrays_of, kept_by_chainer, look, missing
from plugins.formats import GZIP, instead

_FOLDER = "cifar"
_URL = "https://www.cs.toronto.edu/~kriz/"
_PIXELS = 3 * 32 * 32
_LARGEST = 1 << 30  # bytes that a file in an archive may have


class _Version(NamedTuple):
    """One of the forms in which a dataset is published: an archive with a folder of files."""

    archive: Published
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    read: Callable[[bytes, str], tuple[NDArray[Any], NDArray[Any]]]


def _records(labels: int) -> Callable[[bytes, str], tuple[NDArray[Any], NDArray[Any]]]:
    """A reader of the binary version: the last of `labels` bytes is the label, then the pixels."""

    def read(content: bytes, where: str) -> tuple[NDArray[Any], NDArray[Any]]:
        size = labels + _PIXELS
        if not content or len(content) % size:
            raise DatasetDamaged(
                f"{where}: expected records of {size} bytes, got {len(content)} bytes."
            )
        rows = np.frombuffer(content, np.uint8).reshape(-1, size)
        return rows[:, labels:], rows[:, labels - 1]

    return read


def _pickled(name: bytes) -> Callable[[bytes, str], tuple[NDArray[Any], NDArray[Any]]]:
    """A reader of the Python version: a dict with arrays of pixels, and labels under `name`."""

    def read(content: bytes, where: str) -> tuple[NDArray[Any], NDArray[Any]]:
        found = plain_pickle.load(content, where)
        try:
            return found[b"data"], np.asarray(found[name], np.uint8)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DatasetDamaged(f"{where}: expected pixels and labels: {error!r}.") from error

    return read


def _version(name: str, digest: str, *rest: Any) -> _Version:
    return _Version(Published(name, _URL + name, f"md5:{digest}"), *rest)


_BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))
_VERSIONS = {
    10: (
        _version(
            "cifar-10-binary.tar.gz",
            "c32a1d4ab5d03f1284b67883e8d87530",
            "cifar-10-batches-bin",
            tuple(f"{name}.bin" for name in _BATCHES),
            ("test_batch.bin",),
            _records(1),
        ),
        _version(
            "cifar-10-python.tar.gz",
            "c58f30108f718f92721af3b95e74349a",
            "cifar-10-batches-py",
            _BATCHES,
            ("test_batch",),
            _pickled(b"labels"),
        ),
    ),
    100: (
        _version(
            "cifar-100-binary.tar.gz",
            "03b5dce01913d631647c71ecec9e9cb8",
            "cifar-100-binary",
            ("train.bin",),
            ("test.bin",),
            _records(2),
        ),
        _version(
            "cifar-100-python.tar.gz",
            "eb9058c3a382ffc7106e4002c42a8d85",
            "cifar-100-python",
            ("train",),
            ("test",),
            _pickled(b"fine_labels"),
        ),
    ),
}


def _read(classes: int, download: bool) -> tuple[NDArray[Any], ...]:
    """Pixels (n, 3072) and labels (n,) for training, then those for testing, as bytes."""
    for version in _VERSIONS[classes]:
        found = _from_folder(version) or _from_archive(version, look(_FOLDER, version.archive))
        if found is not None:
            return _decoded(version, found, classes)
    theirs = kept_by_chainer(_FOLDER, f"cifar-{classes}.npz")
    if theirs is not None:
        arrays = arrays_of(theirs, ("train_x", "train_y", "test_x", "test_y"))
        _check(theirs, arrays, classes)
        return tuple(arrays)
    version = _VERSIONS[classes][0]
    if not download:
        raise missing(f"get_cifar{classes}", _FOLDER, [v.archive for v in _VERSIONS[classes]])
    path = cached_download(version.archive.url, digest=version.archive.digest)
    return _decoded(version, _from_archive(version, path) or {}, classes)


def _from_folder(version: _Version) -> dict[str, bytes] | None:
    """The files of an archive that has been unpacked."""
    folder = get_dataset_directory(f"{_FOLDER}/{version.folder}", create_directory=False)
    found = {}
    for name in (*version.train, *version.test):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            found[path] = file.read()
    return found


def _from_archive(version: _Version, path: str | None) -> dict[str, bytes] | None:
    """The files in an archive, which is not unpacked."""
    if path is None:
        return None
    wanted = [f"{version.folder}/{name}" for name in (*version.train, *version.test)]
    try:
        found = dict(_members(path, wanted))
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise DatasetDamaged(
            f"{path} is damaged: {error}.{instead(path, GZIP)} Get it again."
        ) from error
    lacking = [name for name in wanted if name not in found]
    if lacking:
        raise DatasetDamaged(f"{path}: expected files {', '.join(lacking)} in it. Get it again.")
    return {f"{name} in {path}": found[name] for name in wanted}


def _members(path: str, wanted: Sequence[str]) -> Any:
    with tarfile.open(path, "r:*") as archive:
        for member in archive:
            if member.name in wanted and member.isfile() and member.size <= _LARGEST:
                file: Any = archive.extractfile(member)
                yield member.name, file.read()


def _decoded(version: _Version, found: dict[str, bytes], classes: int) -> tuple[NDArray[Any], ...]:
    pairs = [version.read(content, where) for where, content in found.items()]
    for where, (pixels, labels) in zip(found, pairs, strict=True):
        image_arrays.checked(where, pixels, labels, (_PIXELS,), classes)
    train, test = pairs[: len(version.train)], pairs[len(version.train) :]
    return tuple(
        np.concatenate([pair[i] for pair in part]) for part in (train, test) for i in (0, 1)
    )


def _check(path: str, arrays: Sequence[NDArray[Any]], classes: int) -> None:
    for pixels, labels in (arrays[:2], arrays[2:]):
        image_arrays.checked(path, pixels, labels, (_PIXELS,), classes)


def _get(
    classes: int, withlabel: bool, ndim: int, scale: float, dtype: DType, download: bool
) -> tuple[Any, Any]:
    shapes = {1: (-1, _PIXELS), 3: (-1, 3, 32, 32)}
    if ndim not in shapes:
        raise ValueError(f"get_cifar{classes}: expected ndim 1 or 3, got {ndim!r}.")
    x, y, test_x, test_y = _read(classes, download)
    train, test = (
        image_arrays.prepared(pixels.reshape(shapes[ndim]), labels, withlabel, scale, dtype)
        for pixels, labels in ((x, y), (test_x, test_y))
    )
    return train, test


@checked
def get_cifar10(
    withlabel: bool = True,
    ndim: int = 3,
    scale: float = 1.0,
    dtype: DType = None,
    *,
    download: bool = False,
) -> tuple[Any, Any]:
    """CIFAR-10, photographs in ten classes, from files that you have: (training set, test set).

    Images are of `dtype` (None: that of `core.config.dtype`), from 0 to `scale`, of shape (3072,)
    or (3, 32, 32), red, green and blue, for `ndim` 1 or 3; labels are int32 from 0 to 9. With
    labels, each set is a TupleDataset of (image, label), otherwise an array; 50,000 and 10,000 of
    them.

    The folder `cifar` in `core.dataset.get_dataset_root()` holds cifar-10-binary.tar.gz or
    cifar-10-python.tar.gz as published, or what is in either (cifar-10-batches-bin, or -py); what
    Chainer kept in `pfnet/chainer/cifar` will do. The pickles of the Python version are read by a
    reader that knows lists, dicts and bytes alone. With `download`, the binary version is
    downloaded and compared with its MD5. Errors and warnings are those of `get_mnist`.

    Source: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009.
    """
    return _get(10, withlabel, ndim, scale, dtype, download)


@checked
def get_cifar100(
    withlabel: bool = True,
    ndim: int = 3,
    scale: float = 1.0,
    dtype: DType = None,
    *,
    download: bool = False,
) -> tuple[Any, Any]:
    """CIFAR-100, photographs in a hundred classes: (training set, test set); see get_cifar10.

    Labels are the fine ones, from 0 to 99. The folder `cifar` holds cifar-100-binary.tar.gz or
    cifar-100-python.tar.gz, or what is in either (cifar-100-binary, or -python).
    """
    return _get(100, withlabel, ndim, scale, dtype, download)
