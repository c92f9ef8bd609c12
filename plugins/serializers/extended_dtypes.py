"""bfloat16 and similar dtypes in files that do not know them: their bits, under the name of the
dtype.

NumPy has these dtypes from ml_dtypes, and writes them as bytes without a meaning. Here an array of
them becomes one of structures with a single field of unsigned integers, which bears the name of the
dtype: any program that reads npz or HDF5 files sees what it is.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np

from core.errors import CheckpointError

Array: TypeAlias = np.ndarray[Any, Any]
_NAMES = re.compile(r"bfloat16|float[4-8]_e\w+|u?int[1-4]|b?complex32")


def wrapped(array: Array) -> Array:
    """A view of `array` that files can hold; the array itself where they can hold that."""
    dtype = array.dtype
    return array.view([(dtype.name, f"u{dtype.itemsize}")]) if is_extended(dtype) else array


def restored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that `wrapped` was given; float32 for bfloat16 where ml_dtypes is missing."""
    name = _tag(dtype)
    if name is None:
        return dtype
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError) as error:
        if name == "bfloat16":
            return np.dtype("f4")
        raise CheckpointError(
            f"load: expected to know the dtype {name}, which a recent ml_dtypes brings ({error}). "
            "Install it: `pip install -U ml_dtypes`."
        ) from error
    return found


def restored(array: Array) -> Array:
    """The array that `wrapped` was given; float32 for bfloat16 where ml_dtypes is missing."""
    name = _tag(array.dtype)
    if name is None:
        return array
    dtype, bits = restored_dtype(array.dtype), np.asarray(array[name])
    bits = bits.astype(bits.dtype.newbyteorder("="), copy=False)
    return bits.view(dtype) if is_extended(dtype) else widened(bits)


def widened(bits: Array) -> Array:
    """bfloat16, given as 16 bits each, as float32, of which it is the upper half."""
    return (bits.astype("u4") << 16).view("f4")


def is_extended(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy has the dtype from ml_dtypes."""
    return dtype.type.__module__.partition(".")[0] == "ml_dtypes"


def _tag(dtype: np.dtype[Any]) -> str | None:
    """The name of a dtype that `wrapped` has put round its bits."""
    if dtype.names is None or len(dtype.names) != 1 or dtype[0].kind != "u":
        return None
    return dtype.names[0] if _NAMES.fullmatch(dtype.names[0]) else None
