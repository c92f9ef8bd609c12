"""What files of saved state consist of: named arrays, one of which may stand for None."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from core.errors import CheckpointError, nearest
from plugins.serializers.extended_dtypes import Array as Array
from plugins.serializers.extended_dtypes import wrapped
from plugins.serializers.open_files import check_open

File: TypeAlias = str | os.PathLike[str] | IO[bytes]

NONE = np.zeros((), dtype=[("None", "?")])
"""How None is stored: a type that nothing else has, and that needs no pickle."""

RUN = "run_id"
"""The entry that names the run which wrote the file, also beside what a model saves."""

WRITTEN = "written_at"
"""The entry of a snapshot that says when it was written, in seconds of the system's clock."""

BESIDE = frozenset({RUN, WRITTEN})
"""What may stand in a file beside what an object saves."""

CHUNK = 1 << 20
DIGITS = 64
MARK = b"plugrad sha256 "
"""What stands before a digest in a file."""


FREE = 64 << 20
PLAUSIBLE = 100
DENSEST = 1100
"""Bytes that at most come out of one byte of gzip, and some more."""

_SAMPLES, _SAMPLE = 16, 4096
_WORTHWHILE = 0.85


class Spec(NamedTuple):
    """Shape and dtype of a stored array, whether it stands for None, and its bytes in the file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    none: bool = False
    held: int = 0

    def excess(self, known: int) -> str:
        """What speaks against reading it where nothing but the file says how large it is.

        A few bytes can be made to unpack to a thousand times as many: 64 MiB are trusted in any
        case, beyond that a hundred times what lies in the file, or four times the largest array
        that the object has (`known` bytes), as the state of an optimizer may be nothing but zeros.
        """
        size = math.prod(self.shape) * self.dtype.itemsize
        if size <= max(FREE, PLAUSIBLE * self.held, 4 * known):
            return ""
        return (
            f"{self.held} bytes that would unpack to {size}, where the object does not say what "
            "shape it expects; make its arrays first, by one call of the model or one update of "
            "the optimizer"
        )


class Entries(Mapping[str, Array]):
    """The arrays of the file `label`, by name. What `specs` tells of them takes no reading."""

    label: str
    specs: dict[str, Spec]
    signed: bool = True
    """Whether the file has a digest of its bytes, as those have that are written here."""

    def __contains__(self, name: object) -> bool:
        return name in self.specs

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)


def opened(who: str, path: str | os.PathLike[str]) -> IO[bytes]:
    """The file, open for reading; `who` asks.

    Raises FileNotFoundError, which says where it was looked for, and the nearest name there.
    """
    try:
        return open(path, "rb")
    except FileNotFoundError:
        sought = Path(os.path.abspath(path))
        folder, near = sought.parent, ""
        with suppress(OSError):
            near = nearest(sought.name, [each.name for each in folder.iterdir()])
        found = "" if folder.is_dir() else ", which does not exist"
        text = f"No such file in the folder {str(folder)!r}{found}.{near} {who} looked for"
        raise FileNotFoundError(errno.ENOENT, text, os.fspath(path)) from None


def contents(who: str, file: File) -> tuple[bytes, str]:
    """All bytes of a file, given by its path or open for reading bytes, and what to call it."""
    if isinstance(file, str | os.PathLike):
        with opened(who, file) as stream:
            return stream.read(), os.fspath(file)
    check_open(who, file, "reading")
    label, data = str(getattr(file, "name", "the file")), file.read()
    if not data and hasattr(file, "tell") and file.tell():
        raise CheckpointError(
            f"{who}: {label} is at its end, with nothing left to be read. Go to where the data "
            "begins first: file.seek(0)."
        )
    return data, label


def is_none(array: Array) -> bool:
    """Whether `array` is the stored form of None."""
    return array.dtype == NONE.dtype and array.ndim == 0


def storable(who: str, files: str, name: str, array: Array) -> Array:
    """`array` as `files` ('npz files') can hold it; what would need pickle is refused."""
    array = wrapped(array)
    dtype = array.dtype
    if dtype.hasobject or (dtype.kind == "V" and dtype.names is None):
        raise CheckpointError(
            f"{who}: expected numbers, text, None or arrays of them, got an array of dtype "
            f"{dtype} for {name!r}, which {files} cannot hold without pickle. "
            "Store it as a string, or as an array of a plain dtype."
        )
    return array


def shrinks(array: Array) -> bool:
    """Whether compression makes an array smaller by a good part, judged by samples of a large one.

    Weights lose 7 % of their bytes by it, and take ten times as long to be written.

    >>> shrinks(np.zeros((400, 400))), shrinks(np.random.default_rng(0).normal(size=(400, 400)))
    (True, False)
    """
    size = _SAMPLES * _SAMPLE
    if array.nbytes <= 4 * size:
        return True
    content = np.ravel(array, "K").view(np.uint8)
    starts = np.linspace(0, content.size - _SAMPLE, _SAMPLES, dtype=np.int64)
    sample = np.concatenate([content[start : start + _SAMPLE] for start in starts.tolist()])
    return len(zlib.compress(sample.tobytes(), 1)) < _WORTHWHILE * size


def digest(stream: IO[bytes], start: int, stop: int) -> bytes:
    """The SHA-256, in hexadecimal, of the bytes from `start` to `stop`."""
    found = hashlib.sha256()
    stream.seek(start)
    left = stop - start
    while left > 0:
        chunk = stream.read(min(left, CHUNK))
        if not chunk:
            break
        left -= len(chunk)
        found.update(chunk)
    return found.hexdigest().encode()
