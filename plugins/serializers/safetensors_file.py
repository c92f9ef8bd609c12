"""The safetensors file itself: a JSON header and raw tensors.

The library writes an array's memory as it lies, whatever its strides are, so every array is put in
C order first. Our metadata has one entry, whose text holds the SHA-256 of the whole file (computed
with zeros in its own place) between two marks, so that no single damage can make the file look like
one that never had a digest; the names that stand for None follow.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from core.errors import CheckpointDamaged, CheckpointError
from plugins.formats import SAFETENSORS, instead
from plugins.serializers.entries import DIGITS, MARK, NONE, Array, Entries, Spec, contents, is_none
from plugins.serializers.extended_dtypes import widened
from plugins.serializers.extras import need
from plugins.serializers.shards import gathered

_KEY = "plugrad"
_METADATA = "__metadata__"
_ZEROS = b"0" * DIGITS
_NAMES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "F16": "float16",
    "BF16": "bfloat16",
    "U32": "uint32",
    "I32": "int32",
    "F32": "float32",
    "U64": "uint64",
    "I64": "int64",
    "F64": "float64",
    "C64": "complex64",
}


# -- writing ----------------------------------------------------------------------------------


def to_bytes(entries: Mapping[str, Array]) -> bytes:
    """The arrays, by name, as a file."""
    library = need("safetensors.numpy", "safetensors", "save_safetensors")
    none = sorted(name for name, array in entries.items() if is_none(array))
    tensors = {name: _plain(name, a) for name, a in entries.items() if name not in none}
    text = (MARK + _ZEROS + MARK).decode() + json.dumps(none)
    data = bytearray(library.save(tensors, {_KEY: text}))
    at = data.index(MARK + _ZEROS) + len(MARK)
    data[at : at + DIGITS] = hashlib.sha256(data).hexdigest().encode()
    return bytes(data)


def _plain(name: str, array: Array) -> Array:
    """The array in C order and in the byte order of the format."""
    if name == _METADATA:
        raise CheckpointError(
            f"save_safetensors: the format keeps the name {name!r} for itself, and an array of "
            "that name could not be read. Give it another one, or use save_npz."
        )
    if array.dtype.name not in _NAMES.values():
        raise CheckpointError(
            f"save_safetensors: expected None or numbers of {', '.join(_NAMES.values())}, got an "
            f"array of dtype {array.dtype} for {name!r}. Use save_npz for whole states."
        )
    little = array.astype(array.dtype.newbyteorder("<")) if not array.dtype.isnative else array
    return np.asarray(little, order="C")


# -- reading ----------------------------------------------------------------------------------


class TensorEntries(Entries):
    """The arrays of a safetensors file, verified.

    Raises CheckpointDamaged where any byte is not what was written, or it is not such a file, and
    CheckpointError for a dtype that NumPy does not have.
    """

    def __init__(self, data: bytes, label: str) -> None:
        self.label = label
        library = need("safetensors", "safetensors", "load_safetensors")
        self._check_digest(data)
        try:
            found = dict(library.deserialize(data))
            text = data[8 : 8 + int.from_bytes(data[:8], "little")]
            header = json.loads(text, object_pairs_hook=_once)
            self._arrays = {name: self._array(name, **parts) for name, parts in found.items()}
        except CheckpointError:
            raise
        except (library.SafetensorError, ValueError, RecursionError) as error:
            raise self._damaged(str(error), instead(data, SAFETENSORS)) from error
        mark = header.get(_METADATA, {}).get(_KEY, "").encode()
        none = json.loads(mark.rpartition(MARK)[2]) if MARK in mark else []
        self._arrays.update(dict.fromkeys(none, NONE))
        self.specs = {
            name: Spec(a.shape, a.dtype, is_none(a), a.nbytes) for name, a in self._arrays.items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def _check_digest(self, data: bytes) -> None:
        """Compare the digest, where there is one or was one."""
        header = data[8 : 8 + int.from_bytes(data[:8], "little")]
        if MARK not in header:
            return
        at = 8 + header.index(MARK) + len(MARK)
        found = hashlib.sha256(data[:at] + _ZEROS + data[at + DIGITS :]).hexdigest().encode()
        if data[at : at + DIGITS] != found:
            what = "its bytes do not have the digest that was stored with them"
            raise self._damaged(what, instead(data, SAFETENSORS))

    def _array(self, name: str, dtype: str, shape: list[int], data: bytearray) -> Array:
        if dtype not in _NAMES:
            raise CheckpointError(
                f"{self.label}: tensor {name!r} is of the dtype {dtype}, which arrays here do not "
                f"have; known are {', '.join(_NAMES)}. Convert it first."
            )
        if dtype == "BF16":
            return _bfloat16(data).reshape(shape)
        return np.frombuffer(data, np.dtype(_NAMES[dtype]).newbyteorder("<")).reshape(shape)

    def _damaged(self, what: str, instead: str = "") -> CheckpointDamaged:
        return CheckpointDamaged(
            f"{self.label}: the file is damaged or no safetensors file: {what}.{instead} "
            "Nothing of it was loaded; use another copy, or an earlier snapshot."
        )


class ShardedEntries(Entries):
    """The arrays of several safetensors files, which an index names."""

    def __init__(self, index: dict[str, str], file: Any, label: str) -> None:
        def read(path: Path) -> TensorEntries:
            found = TensorEntries(*contents("load_safetensors", path))
            self.specs |= found.specs
            return found

        self.label, self.specs = label, {}
        self._arrays = gathered(index, file, label, read)

    def __getitem__(self, name: str) -> Array:
        return cast(Array, self._arrays[name])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the header; raises ValueError for two of one name, which the format forbids."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its header has two entries of one name")
    return found


def _bfloat16(data: Any) -> Array:
    """Values of bfloat16; without ml_dtypes in float32."""
    try:
        import ml_dtypes
    except ImportError:
        return widened(np.frombuffer(data, "<u2"))
    return np.frombuffer(data, ml_dtypes.bfloat16)
