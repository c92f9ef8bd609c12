"""Files of datasets: where they are kept, and how they are downloaded."""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from core.errors import DatasetMissing, DownloadError

ROOT_VARIABLE = "PLUGRAD_DATASET_ROOT"
_PATIENCE = 60.0  # seconds that a server may be silent
_CHUNK = 1 << 20
_T = TypeVar("_T")
_chosen: list[str] = []


def get_dataset_root() -> str:
    """Return the folder of all datasets.

    What `set_dataset_root` said, or the environment variable PLUGRAD_DATASET_ROOT, or
    `~/.plugrad/dataset`. (Chainer had CHAINER_DATASET_ROOT and `~/.chainer/dataset`; its files are
    found when either way names that folder.) Raises DatasetMissing where a `~` is nobody's home, as
    in containers whose user has none.
    """
    if _chosen:
        return _chosen[0]
    return _in_a_home(os.environ.get(ROOT_VARIABLE) or "~/.plugrad/dataset")


def set_dataset_root(path: str | os.PathLike[str]) -> None:
    """Keep datasets in the folder `path` from now on, in this process."""
    _chosen[:] = [_in_a_home(os.fspath(path))]


def _in_a_home(path: str) -> str:
    """The path with the home that its `~` stands for, which else would be a folder of that name."""
    found = os.path.expanduser(path)
    if found.startswith("~"):
        raise DatasetMissing(
            f"the folder of datasets is to be {path}, and there is no such home here. Name another "
            f"by core.dataset.set_dataset_root or the environment variable {ROOT_VARIABLE}."
        )
    return found


def get_dataset_directory(dataset_name: str, create_directory: bool = True) -> str:
    """Return the folder `dataset_name` below the root; it is made by default."""
    path = os.path.join(get_dataset_root(), dataset_name)
    if create_directory:
        os.makedirs(path, exist_ok=True)
    return path


def cached_path(url: str) -> str:
    """Return where `cached_download` keeps the content of `url`: below the root, as in Chainer."""
    name = hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()
    return os.path.join(get_dataset_root(), "_dl_cache", name)


def cached_download(url: str, *, digest: str | None = None) -> str:
    """Return the path of a local copy of `url` (http or https), downloaded if it is missing.

    `digest`, as 'md5:...' or 'sha256:...', is what the content must have; a copy without it is
    downloaded anew. An interrupted or wrong download leaves nothing behind; it is a DownloadError.
    (A process that is killed leaves a folder `.part-...` beside the copies, which nobody reads.)
    Processes may ask for one URL at a time: each sees a whole file.
    """
    path = cached_path(url)
    if os.path.exists(path) and (digest is None or file_digest(path, digest) == digest):
        return path
    try:
        with replacing(path) as temporary:
            _fetch(url, temporary)
            _compare(url, temporary, digest)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"cached_download: {os.path.dirname(path)} cannot be written to: {error}. Make room "
            "there, or name another folder by core.dataset.set_dataset_root or the environment "
            f"variable {ROOT_VARIABLE}."
        ) from error
    return path


def _compare(url: str, path: str, digest: str | None) -> None:
    found = digest if digest is None else file_digest(path, digest)
    if found != digest:
        raise DownloadError(
            f"cached_download: {url} gave another file than expected: its digest is {found} "
            f"and not {digest}. Nothing has been kept; try again, or get the file elsewhere."
        )


def cache_or_load_file(
    path: str | os.PathLike[str], creator: Callable[[str], _T], loader: Callable[[str], _T]
) -> _T:
    """Return `loader(path)`, or what `creator` makes if there is no such file.

    `creator(temporary)` writes the file `temporary`, of the same name in a folder of its own, and
    returns what `loader` would. The file is moved to `path` when it is whole; an exception leaves
    nothing behind.

    >>> from pathlib import Path
    >>> def create(path):
    ...     Path(path).write_text("loaded")
    ...     return "made"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "thing.txt")
    ...     for _ in range(2):
    ...         print(cache_or_load_file(path, create, lambda path: Path(path).read_text()))
    made
    loaded
    """
    path = os.fspath(path)
    if os.path.exists(path):
        return loader(path)
    with replacing(path) as temporary:
        return creator(temporary)


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """A temporary file name; the file becomes `path` at the end of the block, if no error ends it.

    Both are on one file system, so that `path` is the old file or the whole new one at any time.
    """
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    own = tempfile.mkdtemp(prefix=".part-", dir=folder)
    try:
        temporary = os.path.join(own, os.path.basename(path))
        yield temporary
        os.replace(temporary, path)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def file_digest(path: str, like: str) -> str:
    """The digest of a file, by the method that the digest `like` names: 'md5:...'."""
    method = like.partition(":")[0]
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.new(method, usedforsecurity=False))
    return f"{method}:{found.hexdigest()}"


def _fetch(url: str, path: str) -> None:
    if not url.startswith(("http://", "https://")):
        raise DownloadError(f"cached_download: expected a URL of http or https, got {url!r}.")
    sys.stderr.write(f"Downloading {url}\n")
    request = urllib.request.Request(url, headers={"User-Agent": "plugrad"})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer, open(path, "wb") as file:
            shutil.copyfileobj(answer, file, _CHUNK)
            _check_length(answer.headers.get("Content-Length"), file.tell())
            file.flush()
            os.fsync(file.fileno())
    except urllib.error.HTTPError as why:
        why.close()
        raise _failure(url, why) from why
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as why:
        raise _failure(url, why) from why
    except ValueError as why:  # of a length that is no number, or letters that no URL has
        raise _failure(url, why) from why


def _failure(url: str, why: Exception) -> DownloadError:
    return DownloadError(
        f"cached_download: {url} cannot be downloaded: {why}. Nothing has been kept; try again, "
        "or get the file by other means and put it where the dataset is read from."
    )


def _check_length(promised: Any, received: int) -> None:
    if promised is not None and int(promised) != received:
        raise http.client.HTTPException(f"it broke off after {received} of {promised} bytes")
