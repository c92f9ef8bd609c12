"""Files as torch.save writes them, without PyTorch: a zip archive of a pickle and of storages.

The pickle is written by hand, as it names functions of PyTorch, which need not be here.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from core.errors import CheckpointError
from plugins.serializers.entries import Array
from plugins.serializers.torch_file import DTYPES

ALIGNMENT = 64
"""Bytes to whose multiples storages are moved, so that they can be mapped into memory."""

_KINDS = {np.dtype(bits).name: name for name, bits in DTYPES.items()} | {"bfloat16": "BFloat16"}
_KINDS.pop("uint16")  # the bits of bfloat16
_ORDERED = b"ccollections\nOrderedDict\n)R"


def write(file: IO[bytes], tensors: Mapping[str, Array]) -> None:
    """Write tensors by name; an array that has two names is written once."""
    kinds = {name: _kind(name, array) for name, array in tensors.items()}
    storages: dict[int, tuple[int, Array]] = {}
    items = []
    for name, array in tensors.items():
        key, _ = storages.setdefault(id(array), (len(storages), array))
        items.append(_text(name) + _tensor(kinds[name], key, array))
    body = b"\x80\x02" + _ORDERED + b"(" + b"".join(items) + b"u."
    with zipfile.ZipFile(file, "w") as archive:
        _put(archive, "data.pkl", body)
        _put(archive, "byteorder", sys.byteorder.encode())
        for key, array in storages.values():
            native = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
            _put(archive, f"data/{key}", native.reshape(-1).view("u1"))
        _put(archive, "version", b"3\n")


def _kind(name: str, array: Array) -> str:
    if array.dtype.name not in _KINDS:
        raise CheckpointError(
            f"save_torch: expected arrays of {', '.join(_KINDS)}, got {array.dtype} for {name!r}."
        )
    return _KINDS[array.dtype.name]


def _put(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    info = zipfile.ZipInfo(f"archive/{name}")  # of 1980, so that equal models are equal files
    start = (archive.fp.tell() if archive.fp else 0) + 30 + len(info.filename) + 4
    fill = -start % ALIGNMENT
    info.extra = b"FB" + fill.to_bytes(2, "little") + b"Z" * fill
    archive.writestr(info, data)


def _text(text: str) -> bytes:
    data = text.encode()
    return b"X" + len(data).to_bytes(4, "little") + data


def _number(n: int) -> bytes:
    if n < 1 << 31:
        return b"J" + n.to_bytes(4, "little")
    return b"\x8a\x08" + n.to_bytes(8, "little")


def _numbers(numbers: Sequence[int]) -> bytes:
    return b"(" + b"".join(map(_number, numbers)) + b"t"


def _tensor(kind: str, key: int, array: Array) -> bytes:
    """The call that makes a tensor of a storage."""
    storage = _text("storage") + b"ctorch\n" + f"{kind}Storage\n".encode()
    storage += _text(str(key)) + _text("cpu") + _number(array.size)
    steps, strides = 1, list[int]()
    for n in array.shape[::-1]:
        strides.insert(0, steps)
        steps *= n
    lies = _number(0) + _numbers(array.shape) + _numbers(strides)
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n"
        + (b"((" + storage + b"tQ" + lies + b"\x89" + _ORDERED + b"t")
        + b"R"
    )
