"""The IDX format of MNIST's files."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from typing import Any

import numpy as np

from core.errors import DatasetDamaged
from plugins.formats import GZIP, instead

_GZIP = b"\x1f\x8b"
_UINT8 = 8
_LARGEST = 1 << 34


def read_idx(path: str, ndim: int) -> np.ndarray[Any, Any]:
    """The array of uint8 with `ndim` axes in an IDX file, which may be compressed by gzip.

    Raises DatasetDamaged for any other content, and for more or less of it than the file says.
    """
    with open(path, "rb") as file:
        zipped = file.read(2) == _GZIP
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            return _read(path, file, ndim)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DatasetDamaged(f"{path} is damaged: {error}. Get it again.") from error


def _read(path: str, file: Any, ndim: int) -> np.ndarray[Any, Any]:
    head = file.read(4)
    if head != bytes([0, 0, _UINT8, ndim]):
        raise DatasetDamaged(
            f"{path}: expected an IDX file of bytes with {ndim} axes, which begins with "
            f"{bytes([0, 0, _UINT8, ndim])!r}, got {head!r}.{instead(path, GZIP)}"
        )
    sizes = file.read(4 * ndim)
    shape = struct.unpack(f">{ndim}I", sizes) if len(sizes) == 4 * ndim else (_LARGEST,)
    expected = math.prod(shape)
    content = file.read(expected + 1) if expected < _LARGEST else b""
    if len(content) != expected:
        raise DatasetDamaged(
            f"{path}: expected {list(shape)} bytes after the head, got "
            f"{'more' if len(content) > expected else len(content)}. Get it again."
        )
    return np.frombuffer(content, np.uint8).reshape(shape)
