"""What a file is, by its content: for errors about a file of another format than expected."""

from __future__ import annotations

import os
import zipfile
from io import BytesIO
from typing import IO, Any, NamedTuple

_HEAD = 1 << 16
_HDF5 = b"\x89HDF\r\n\x1a\n"
_OURS = "core.serializers.load_{} reads it"
_CONVERT = "in {}, write the arrays by safetensors.{}.save_file; load_safetensors reads those"


class Format(NamedTuple):
    """A format in words, and what to do with a file of it."""

    text: str
    cure: str


EMPTY = Format("an empty file", "use another copy")
NPZ = Format("an npz file", _OURS.format("npz"))
HDF5 = Format("an HDF5 file", _OURS.format("hdf5"))
SAFETENSORS = Format("a safetensors file", _OURS.format("safetensors"))
TORCH = Format("a file of torch.save", "core.serializers.load_torch reads it")
KERAS = Format("a model of Keras", _CONVERT.format("Keras", "numpy"))
PICKLE = Format("a pickle", "unpickle it if you trust it, as it can run any code, and save arrays")
ZIP = Format("a zip archive", "unpack it")
GZIP = Format("compressed by gzip", "unpack it")
ARRAY = Format("a single array (.npy)", "numpy.load reads it")
LFS = Format("a pointer of Git LFS", "get the file: git lfs pull")
PNG = Format("a PNG image", "datasets.ImageDataset reads images")
JPEG = Format("a JPEG image", "datasets.ImageDataset reads images")
MATLAB = Format("a MATLAB file", "scipy.io.loadmat reads it")
TEXT = Format("a text", "look into it")

_BEGINNINGS = {
    b"\x93NUMPY": ARRAY,
    b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.": TORCH,
    b"\x1f\x8b": GZIP,
    b"BZh": Format("compressed by bzip2", "unpack it"),
    b"\xfd7zXZ\x00": Format("compressed by xz", "unpack it"),
    b"\x28\xb5\x2f\xfd": Format("compressed by zstd", "unpack it"),
    b"\x89PNG\r\n": PNG,
    b"\xff\xd8\xff": JPEG,
    b"MATLAB 5.0": MATLAB,
    b"version https://git-lfs": LFS,
}
_PAGES = (b"<!doctype html", b"<html")
PAGE = Format("a web page, which servers send for an error", "get the file again")
JSON = Format("a text in JSON", "look into it")
TAR = Format("a tar archive", "unpack it")


def format_of(file: str | os.PathLike[str] | bytes | IO[bytes]) -> Format | None:
    r"""The format of a file (its path, its content, or open where it can seek), if it is known.

    >>> format_of(b"") is EMPTY, format_of(b'{"a": 1}').text, format_of(b"\x00\x01")
    (True, 'a text in JSON', None)
    """
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as opened:
            return format_of(opened)
    stream: IO[bytes] = BytesIO(file) if isinstance(file, bytes) else file
    place = stream.tell()
    try:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        return _told(stream, stream.read(_HEAD), size)
    finally:
        stream.seek(place)


def instead(file: Any, *expected: Format) -> str:
    """End of a message about a file that should be `expected`: what it is, if that is known.

    >>> instead(b"<html>404</html>", NPZ)
    ' It is a web page, which servers send for an error: get the file again.'
    """
    try:
        found = format_of(file)
    except (OSError, ValueError):  # gone or closed: its own error is the one to be seen
        return ""
    return f" It is {found.text}: {found.cure}." if found and found not in expected else ""


def _told(stream: IO[bytes], head: bytes, size: int) -> Format | None:
    if not size:
        return EMPTY
    for beginning, found in _BEGINNINGS.items():
        if head.startswith(beginning):
            return found
    if head.startswith(b"PK\x03\x04"):
        return _zipped(stream)
    if _HDF5 in (head[:8], head[512:520]):
        return KERAS if b"keras_version" in head else HDF5
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < size:
        return SAFETENSORS
    if head[257:262] == b"ustar":
        return TAR
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return PICKLE
    return _written(head)


def _zipped(stream: IO[bytes]) -> Format | None:
    try:
        names = zipfile.ZipFile(stream).namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None
    if any(name.endswith("data.pkl") for name in names):
        return TORCH
    if any(name.endswith("model.weights.h5") for name in names):
        return KERAS
    return NPZ if all(name.endswith(".npy") for name in names) else ZIP


def _written(head: bytes) -> Format | None:
    """What a file is whose bytes are letters."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4 or len(head) < _HEAD:
            return None
        text = head[: error.start].decode("utf-8")
    if any(ord(letter) < 32 for letter in {*text} - {*"\n\r\t\f"}):
        return None
    if head.lstrip().lower().startswith(_PAGES):
        return PAGE
    return JSON if text.lstrip()[:1] in ("{", "[") else TEXT
