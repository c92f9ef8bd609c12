"""Pickles of dicts, lists, bytes and arrays of bytes, and of nothing else."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from core.errors import DatasetDamaged
from plugins.formats import PICKLE, instead


def load(content: bytes, where: str) -> Any:
    """The object in a pickle; its strings of Python 2 are bytes, its arrays NumPy's, of uint8.

    Nothing that the pickle names is imported or called: the names by which NumPy pickles
    arrays stand for the classes below. Raises DatasetDamaged for any other name, `where` it is.
    """
    try:
        return _arrays(_Unpickler(io.BytesIO(content), encoding="bytes").load())
    except Exception as error:
        raise DatasetDamaged(
            f"{where} is damaged: {type(error).__name__}: {error}.{instead(content, PICKLE)}"
        ) from error


class _Dtype:
    """Stands for `numpy.dtype` of bytes."""

    def __init__(self, name: Any, *rest: Any) -> None:
        if name not in ("u1", b"u1"):
            raise pickle.UnpicklingError(f"expected arrays of bytes, got {name!r:.50}")

    def __setstate__(self, state: Any) -> None:
        """The byte order, which bytes do not have."""


class _Array:
    """Stands for `numpy.ndarray`, and receives what an array is pickled as."""

    array: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, by_columns, content = state
        if not isinstance(dtype, _Dtype) or not isinstance(content, bytes):
            raise pickle.UnpicklingError("expected an array of bytes")
        order = "F" if by_columns else "C"
        self.array = np.frombuffer(content, np.uint8).reshape(shape, order=order)  # type: ignore[call-overload]


def _reconstruct(kind: Any, shape: Any, code: Any) -> _Array:
    return _Array()


def _of_buffer(content: Any, dtype: Any, shape: Any, order: str, axes: Any = None) -> _Array:
    """An array as protocol 5 has it, Python's choice from 3.14 on; `axes` are of strided ones."""
    if not isinstance(content, bytes | bytearray) or axes is not None:
        raise pickle.UnpicklingError("expected an array of bytes without gaps")
    found = _Array()
    found.__setstate__((1, shape, dtype, order == "F", bytes(content)))
    return found


def _encode(text: Any, encoding: Any) -> bytes:
    """Bytes as Python 3 has them in protocols before its own; it has no bytes by a name there."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError(f"expected bytes as text in 'latin1', got {encoding!r:.50}")
    return text.encode("latin1")


_NAMES = {
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): lambda: b"",
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy.core.numeric", "_frombuffer"): _of_buffer,
    ("numpy._core.numeric", "_frombuffer"): _of_buffer,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NAMES:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which data has no use for")
        return _NAMES[module, name]


def _arrays(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _arrays(value) for key, value in found.items()}
    return found.array if isinstance(found, _Array) else found
