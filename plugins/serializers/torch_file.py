"""Files of torch.save, read without running what they say: tensors alone come out.

Such a file is a zip archive: a pickle that says how tensors lie in storages, and the storages.
Before PyTorch 1.6 it was a stream: pickles (a number, a version, the machine, how tensors lie, the
names of storages), and behind them the storages, each after its length. Of what the pickles name,
the few functions that make tensors are known; the rest has a stand-in, and is not among tensors.
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
from plugins.serializers.stand_ins import StandIn, StandIns

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

UNTYPED = {"uint16": "u2", "uint32": "u4", "uint64": "u8"}
"""Dtypes that have no kind of storage: it holds bytes, and tensors say what these are."""

STREAM = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
"""The number that streams begin with, as it is pickled there."""

_NESTED = ("state_dict", "model_state_dict", "model")
"""Where checkpoints keep a model's tensors beside other things."""


EXTRA = "_extra_state"
"""The end of names under which modules keep other things than tensors."""

_OTHER_TENSORS = {
    "_rebuild_meta_tensor_no_storage": "a meta tensor, which has no numbers,",
    "_rebuild_nested_tensor": "a nested tensor",
    "_rebuild_sparse_tensor": "a sparse tensor",
    "_rebuild_sparse_csr_tensor": "a sparse tensor",
    "_rebuild_qtensor": "a quantized tensor",
    "_rebuild_wrapper_subclass": "a tensor of a subclass",
    "_rebuild_from_type_v2": "a tensor of a subclass",
}


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
        if data.startswith(STREAM):
            found = _of_stream(data, label).load()
        elif zipfile.is_zipfile(BytesIO(data)):
            with zipfile.ZipFile(BytesIO(data)) as archive:
                found = _of_archive(archive, label).load()
        else:
            raise CheckpointDamaged(f"{label}: expected a file of torch.save, got something else.")
    except CheckpointError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of itself
        raise CheckpointDamaged(
            f"{label}: the file is damaged: {type(error).__name__}: {error}. Use another copy."
        ) from error
    return _named(found, label)


def _named(found: Any, label: str) -> dict[str, Array]:
    found = _model_in(found)
    if hasattr(found, "called"):
        raise _no_tensors(label, found)
    tensors = _without_extra(found) if isinstance(found, Mapping) else {}
    for name, value in tensors.items():
        if isinstance(value, StandIn):
            raise _no_tensors(label, value, f" for {name}")
    if not isinstance(found, Mapping) or not {*map(type, tensors.values())} <= {np.ndarray}:
        shown = sorted(map(str, found))[:8] if isinstance(found, Mapping) else type(found).__name__
        raise CheckpointError(
            f"{label}: expected the tensors of a model by name, as of model.state_dict(), got "
            f"{shown}. Save those alone."
        )
    return {str(name): array for name, array in tensors.items()}


def _model_in(found: Any) -> Any:
    """The tensors of a model in a checkpoint, which has other things beside them."""
    for key in _NESTED:
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
    values = [*found.values()] if isinstance(found, Mapping) else []
    parts = [*filter(_has_tensors, values)]
    alone = len(parts) == 1 and not any([isinstance(x, np.ndarray) for x in values])
    return parts[0] if alone else found  # under whatever name


def _without_extra(found: Mapping[Any, Any]) -> dict[Any, Any]:
    """The tensors of a state_dict without what modules keep beside them, which may be anything."""
    return {name: x for name, x in found.items() if not str(name).endswith(EXTRA)}


def _no_tensors(label: str, found: Any, where: str = "") -> CheckpointError:
    what = _OTHER_TENSORS.get(found.called.rpartition(".")[2], found.called)
    return CheckpointError(
        f"{label}: expected tensors alone, got {what}{where}, which is not made here. Where you "
        "trust the file, load it by PyTorch, and save model.state_dict() with ordinary tensors, as "
        "of tensor.to_dense() and tensor.float()."
    )


def _has_tensors(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return {type(x) for x in _without_extra(value).values()} == {np.ndarray}


def _of_archive(archive: zipfile.ZipFile, label: str) -> _Reader:
    names = [name for name in archive.namelist() if name.endswith("data.pkl")]
    if len(names) != 1:
        raise CheckpointDamaged(f"{label}: expected one data.pkl in the archive, got {len(names)}.")
    folder = names[0].removesuffix("data.pkl")

    def part(name: str, most: int) -> bytes:
        info = archive.getinfo(folder + name)
        if info.file_size > most or info.file_size > max(FREE, PLAUSIBLE * info.compress_size):
            raise CheckpointError(
                f"{label}: {name} would have {info.file_size} bytes, which is not plausible."
            )
        return archive.read(folder + name)

    big = folder + "byteorder" in archive.namelist() and part("byteorder", 16) == b"big"
    body = part("data.pkl", LONGEST)
    check_memo(body)
    return _Reader(label, body, ">" if big else "<", lambda key, size: part(f"data/{key}", size))


def _of_stream(data: bytes, label: str) -> _Reader:
    stream, pickles = BytesIO(data), []
    for _ in range(5):
        start = stream.tell()
        check_memo(stream)
        pickles.append(data[start : stream.tell()])
    _, _, machine, body, keys = pickles
    order = "<" if _Restricted(machine, {}, label).load()["little_endian"] else ">"
    storages: dict[str, bytes] = {}
    reader = _Reader(label, body, order, lambda key, size: storages[key])
    lengths = reader.storages()
    at = stream.tell()
    for key in _Restricted(keys, {}, label).load():
        size = lengths[key].length * np.dtype(lengths[key].kind.dtype).itemsize
        (length,) = np.frombuffer(data, order + "i8", 1, at)
        if length != lengths[key].length or size > len(data) - at - 8:
            raise ValueError(
                f"a storage of {length} elements, of which {lengths[key].length} are used"
            )
        storages[key] = data[at + 8 : at + 8 + size]
        at += 8 + size
    return reader


class _Reader:
    """A pickle of tensors, and where the bytes of a storage come from, by its key and its size."""

    def __init__(
        self, label: str, body: bytes, order: str, storage: Callable[[str, int], bytes]
    ) -> None:
        self._label, self._pickle, self._order, self._bytes = label, body, order, storage
        self._read: dict[_Stored, Array] = {}

    def load(self) -> Any:
        """What the pickle makes of the storages."""
        return _Restricted(self._pickle, self._functions(), self._label).load()

    def storages(self) -> dict[str, _Stored]:
        """The storages that the pickle names, by their keys; none is read."""
        nothing = {name: lambda *_: None for name in self._functions() if name[0] == "torch._utils"}
        made = _Restricted(self._pickle, self._functions() | nothing, self._label)
        made.load()
        return made.stored

    def _functions(self) -> dict[tuple[str, str], Any]:
        kinds = {("torch", f"{name}Storage"): _Kind(name, dtype) for name, dtype in DTYPES.items()}
        kinds |= {("torch", name): _Kind(name, dtype) for name, dtype in UNTYPED.items()}
        return kinds | {
            ("torch.storage", "UntypedStorage"): _Kind("Untyped", "u1"),
            ("collections", "OrderedDict"): OrderedDict,
            ("torch", "Size"): tuple,
            ("torch._utils", "_rebuild_parameter"): lambda data, *_: data,
            ("torch._utils", "_rebuild_parameter_with_state"): lambda data, *_: data,
            ("torch._utils", "_rebuild_tensor"): self.tensor,
            ("torch._utils", "_rebuild_tensor_v2"): self.tensor,
            ("torch._utils", "_rebuild_tensor_v3"): self.untyped,
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

    def untyped(self, stored: _Stored, offset: int, shape: Any, strides: Any, *more: Any) -> Any:
        """A tensor in a storage of bytes; its dtype follows, behind two things of its gradient."""
        kind = more[2]
        if isinstance(kind, type) and issubclass(kind, StandIn):
            return kind()  # a dtype that NumPy lacks
        if not isinstance(stored, _Stored) or not isinstance(kind, _Kind):
            raise ValueError("a tensor of an unknown kind")
        length = stored.length // np.dtype(kind.dtype).itemsize
        return self.tensor(_Stored(kind, stored.key, length), offset, shape, strides)

    def _storage(self, stored: _Stored) -> Array:
        if stored not in self._read:  # of which a file may give one key to several
            dtype = np.dtype(self._order + stored.kind.dtype)
            size = stored.length * dtype.itemsize
            data = self._bytes(stored.key, size)
            flat = np.frombuffer(data, dtype, stored.length)
            self._read[stored] = flat.astype(dtype.newbyteorder("="))
        return self._read[stored]


def check_memo(data: bytes | BytesIO) -> None:
    """Raise where numbers of the memo are not plausible: a place is made for each number below.

    A stream is read to the end of one pickle.
    """
    size = len(data) if isinstance(data, bytes) else len(data.getbuffer())
    for opcode, number, _ in pickletools.genops(data):
        if "PUT" in opcode.name and (number or 0) > size:
            raise ValueError("a pickle that numbers more objects than it has")


class _Restricted(pickle.Unpickler):
    def __init__(self, data: bytes, functions: Mapping[tuple[str, str], Any], label: str) -> None:
        super().__init__(BytesIO(data))
        self._functions, self._label, self._named = functions, label, StandIns()
        self.stored: dict[str, _Stored] = {}

    def find_class(self, module: str, name: str) -> Any:
        known = (module, name) in self._functions
        return self._functions[module, name] if known else self._named(module, name)

    def persistent_load(self, pid: Any) -> _Stored:
        what, kind, key, _, count, *view = pid
        if isinstance(kind, type) and issubclass(kind, StandIn):
            raise _no_tensors(self._label, kind, " for a storage")
        if what != "storage" or not isinstance(kind, _Kind) or not isinstance(count, int):
            raise ValueError("a storage of an unknown kind")
        if any(view):
            raise ValueError("a storage that is a part of another")
        found = _Stored(kind, str(key), count)
        self.stored.setdefault(found.key, found)
        return found
