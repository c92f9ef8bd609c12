"""Where the files of well-known datasets are looked for, and what is said when they are not there.

A dataset called `name` has the folder `name` below `core.dataset.get_dataset_root()`; the files in
it are called as they were published. Failing these, what Chainer kept in `pfnet/chainer/name` is
read. Nothing is downloaded unless that is asked for.
"""

from __future__ import annotations

import os
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from core.dataset import cached_download, get_dataset_directory
from core.dataset.download import cached_path, file_digest
from core.errors import DatasetDamaged, DatasetMissing
from plugins.formats import NPZ, instead


class Published(NamedTuple):
    """A file as it was published; `others` are names under which its content will do as well."""

    name: str
    url: str
    digest: str | None = None
    others: tuple[str, ...] = ()


class UnofficialFileWarning(UserWarning):
    """A file has the name of a published one, and another content."""


def look(dataset: str, file: Published) -> str | None:
    """The path of a file, in the dataset's folder or among the downloads; None if it is absent.

    A download that is not what was published any more counts as absent, so that it is got again.
    """
    folder = get_dataset_directory(dataset, create_directory=False)
    for name in (file.name, *file.others):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            if name == file.name:
                _compare(path, file.digest)
            return path
    downloaded = cached_path(file.url)
    if not os.path.exists(downloaded):
        return None
    whole = file.digest is None or file_digest(downloaded, file.digest) == file.digest
    return downloaded if whole else None


def _compare(path: str, digest: str | None) -> None:
    if digest is None or os.path.isdir(path):
        return
    found = file_digest(path, digest)
    if found != digest:
        warnings.warn(
            f"{path} is not the file that was published under this name: its digest is {found} "
            f"and not {digest}. It is used, but results are not those on the published data.",
            UnofficialFileWarning,
            stacklevel=2,
        )


def obtain(who: str, dataset: str, file: Published, download: bool) -> str:
    """The path of a file, downloaded if that is asked for; raises DatasetMissing."""
    found = look(dataset, file)
    if found is not None:
        return found
    if download:
        return cached_download(file.url, digest=file.digest)
    raise missing(who, dataset, [file])


def missing(who: str, dataset: str, files: Sequence[Published]) -> DatasetMissing:
    """The error that names what is not there, where it belongs, and the other ways."""
    folder = get_dataset_directory(dataset, create_directory=False)
    names = " or ".join([name for file in files for name in (file.name, *file.others)])
    return DatasetMissing(
        f"{who}: there is no {names} in {folder}. Put it there; or name the folder above by "
        "core.dataset.set_dataset_root or the environment variable PLUGRAD_DATASET_ROOT; or call "
        f"{who}(download=True), which gets {files[0].url}."
    )


def kept_by_chainer(dataset: str, name: str) -> str | None:
    """The path of a file that Chainer made of its download; None if it is absent."""
    folder = get_dataset_directory(f"pfnet/chainer/{dataset}", create_directory=False)
    path = os.path.join(folder, name)
    return path if os.path.exists(path) else None


def arrays_of(path: str, names: Sequence[str]) -> list[np.ndarray[Any, Any]]:
    """Arrays of an npz file by name; raises DatasetDamaged."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return [file[name] for name in names]
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError) as error:
        raise DatasetDamaged(f"{path} is damaged: {error}.{instead(path, NPZ)}") from error
