"""What files of saved state consist of: named arrays, one of which may stand for None."""

from __future__ import annotations

import hashlib
import os
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from core.errors import CheckpointError

Array: TypeAlias = np.ndarray[Any, Any]
File: TypeAlias = str | os.PathLike[str] | IO[bytes]

NONE = np.zeros((), dtype=[("None", "?")])
"""How None is stored: a type that nothing else has, and that needs no pickle."""

CHUNK = 1 << 20
DIGITS = 64
MARK = b"plugrad sha256 "
"""What stands before a digest in a file."""


class Spec(NamedTuple):
    """Shape and dtype of a stored array, and whether it stands for None."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    none: bool = False


def is_none(array: Array) -> bool:
    """Whether `array` is the stored form of None."""
    return array.dtype == NONE.dtype and array.ndim == 0


def refuse_objects(who: str, files: str, name: str, array: Array) -> None:
    """Refuse what `files` ('npz files') cannot hold without pickle."""
    if array.dtype.hasobject or (array.dtype.kind == "V" and array.dtype.names is None):
        raise CheckpointError(
            f"{who}: expected numbers, text, None or arrays of them, got an array of dtype "
            f"{array.dtype} for {name!r}, which {files} cannot hold without pickle. "
            "Store it as a string, or as an array of a plain dtype."
        )


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
