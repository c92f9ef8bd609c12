"""Files of torch.save, read without running what they say: tensors alone come out.

Such a file is a zip archive: a pickle that says how tensors lie in storages, and the storages. The
pickle may name the few functions that make tensors, and nothing else.
"""

from __future__ import annotations

import math
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from core.errors import CheckpointDamaged, CheckpointError
from plugins.serializers.entries import FREE, PLAUSIBLE, Array
from plugins.serializers.extended_dtypes import widened

LONGEST = 64 << 20
"""Bytes of the pickle: names and shapes take no more."""

DTYPES = {
    "Double": "f8",
    "Float": "f4",
    "Half": "f2",
    "BFloat16": "u2",
    "Long": "i8",
    "Int": "i4",
    "Short": "i2",
    "Char": "i1",
    "Byte": "u1",
    "Bool": "?",
    "ComplexDouble": "c16",
    "ComplexFloat": "c8",
}
"""Kinds of storages, and NumPy's dtypes of their bits."""

_NESTED = ("state_dict", "model_state_dict", "model")
"""Where checkpoints keep a model's tensors beside other things."""


class _Kind(NamedTuple):
    """What a storage holds."""

    name: str
    dtype: Any


class _Stored(NamedTuple):
    """A storage, not read yet."""

    kind: _Kind
    key: str
    length: int


def tensors_of(data: bytes, label: str) -> dict[str, Array]:
    """The tensors of a state_dict, by name.

    Raises CheckpointDamaged where it is no such file, and CheckpointError where it asks for more
    than tensors.
    """
    try:
        if not zipfile.is_zipfile(BytesIO(data)):
            raise CheckpointDamaged(
                f"{label}: expected a file of torch.save, a zip archive, got something else. Files "
                "of PyTorch before 1.6 are none: load them there, and save them again."
            )
        with zipfile.ZipFile(BytesIO(data)) as archive:
            found = _Reader(archive, label).load()
    except CheckpointError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of itself
        raise CheckpointDamaged(
            f"{label}: the file is damaged: {type(error).__name__}: {error}. Use another copy."
        ) from error
    return _named(found, label)


def _named(found: Any, label: str) -> dict[str, Array]:
    for key in _NESTED:
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
    kinds = {type(x) for x in found.values()} if isinstance(found, Mapping) else {type(found)}
    if not isinstance(found, Mapping) or not kinds <= {np.ndarray}:
        shown = sorted(map(str, found))[:8] if isinstance(found, Mapping) else type(found).__name__
        raise CheckpointError(
            f"{label}: expected the tensors of a model by name, as of model.state_dict(), got "
            f"{shown}. Save those alone."
        )
    return {str(name): array for name, array in found.items()}


class _Reader:
    def __init__(self, archive: zipfile.ZipFile, label: str) -> None:
        self._archive, self._label = archive, label
        names = [name for name in archive.namelist() if name.endswith("data.pkl")]
        if len(names) != 1:
            raise CheckpointDamaged(
                f"{label}: expected one data.pkl in the archive, got {len(names)}."
            )
        self._pickle = names[0]
        self._folder = names[0].removesuffix("data.pkl")
        self._read: dict[_Stored, Array] = {}
        order = self._folder + "byteorder"
        big = order in archive.namelist() and self._bytes(order, 16) == b"big"
        self._order = ">" if big else "<"

    def load(self) -> Any:
        data = self._bytes(self._pickle, LONGEST)
        check_memo(data)
        made = _Restricted(BytesIO(data), self._functions())
        made.reader = self
        return made.load()

    def _bytes(self, name: str, most: int) -> bytes:
        info = self._archive.getinfo(name)
        if info.file_size > most or info.file_size > max(FREE, PLAUSIBLE * info.compress_size):
            raise CheckpointError(
                f"{self._label}: {name} would have {info.file_size} bytes, which is not plausible."
            )
        return self._archive.read(name)

    def _functions(self) -> dict[tuple[str, str], Any]:
        kinds = {("torch", f"{name}Storage"): _Kind(name, dtype) for name, dtype in DTYPES.items()}
        return kinds | {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch", "Size"): tuple,
            ("torch._utils", "_rebuild_parameter"): lambda data, *_: data,
            ("torch._utils", "_rebuild_tensor_v2"): self.tensor,
        }

    def tensor(self, stored: _Stored, offset: int, shape: Any, strides: Any, *more: Any) -> Array:
        """A tensor in a storage, copied."""
        if not isinstance(stored, _Stored) or len(shape) != len(strides):
            raise ValueError("a tensor that lies nowhere")
        last = offset + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
        if min([offset, *shape, *strides]) < 0 or (math.prod(shape) and last >= stored.length):
            raise ValueError("a tensor that lies outside of its storage")
        flat = self._storage(stored)
        if math.prod(shape) > max(FREE // flat.itemsize, PLAUSIBLE * stored.length):
            raise ValueError("a tensor that would be much larger than its storage")
        steps = [s * flat.itemsize for s in strides]
        view = np.lib.stride_tricks.as_strided(flat[offset:], shape, steps, writeable=False)
        array = np.array(view, order="C")
        told = more[2] if len(more) > 2 else {}  # of tensors that are to be seen otherwise
        array = np.conj(array) if told.get("conj") else array
        array = -array if told.get("neg") else array
        return widened(array) if stored.kind.name == "BFloat16" else array

    def _storage(self, stored: _Stored) -> Array:
        if stored not in self._read:  # of which a file may give one key to several
            dtype = np.dtype(self._order + stored.kind.dtype)
            size = stored.length * dtype.itemsize
            data = self._bytes(f"{self._folder}data/{stored.key}", size)
            flat = np.frombuffer(data, dtype, stored.length)
            self._read[stored] = flat.astype(dtype.newbyteorder("="))
        return self._read[stored]

    def refuse(self, module: str, name: str) -> CheckpointError:
        return CheckpointError(
            f"{self._label}: expected tensors alone, got {module}.{name}, which reading the file "
            "would run. Where you trust it, load it by PyTorch, and save model.state_dict()."
        )


def check_memo(data: bytes) -> None:
    """Raise where numbers of the memo are not plausible: a place is made for each number below."""
    for opcode, number, _ in pickletools.genops(data):
        if "PUT" in opcode.name and (number or 0) > len(data):
            raise ValueError("a pickle that numbers more objects than it has")


class _Restricted(pickle.Unpickler):
    reader: _Reader

    def __init__(self, file: BytesIO, functions: Mapping[tuple[str, str], Callable[..., Any]]):
        super().__init__(file)
        self._functions = functions

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._functions:
            raise self.reader.refuse(module, name)
        return self._functions[module, name]

    def persistent_load(self, pid: Any) -> _Stored:
        what, kind, key, _, count = pid
        if what != "storage" or not isinstance(kind, _Kind) or not isinstance(count, int):
            raise ValueError("a storage of an unknown kind")
        return _Stored(kind, str(key), count)
