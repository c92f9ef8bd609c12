"""Dtypes: their kinds, their limits, and which becomes which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core import as_array
from core.arrays.backend import BACKENDS, Backend, current
from core.errors.scalars import is_number, python_number
from core.graph.fitting import is_array
from core.ops.namespace import asking_for_backend
from core.typing import DType
from plugins.functions.array.cast import arrays_in
from plugins.functions.namespace.info import KINDS


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating dtype, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: Any


def _described(dtype: DType) -> tuple[Backend, Any]:
    """The backend, and its own dtype, of a dtype, an array or a Variable."""
    array = as_array(dtype)
    if is_array(array):
        return BACKENDS[type(array)], array.dtype
    return current(), current().dtype(dtype)


@asking_for_backend
def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating dtype, or of that of an array.

    >>> finfo("float32").bits, finfo("float32").eps
    (32, 1.1920928955078125e-07)
    """
    backend, dtype = _described(type)
    found = backend.xp.finfo(dtype)
    names = ("eps", "max", "min", "smallest_normal")
    limits = {name: float(getattr(found, name)) for name in names}
    return FloatInfo(bits=int(found.bits), dtype=found.dtype, **limits)


@asking_for_backend
def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype, or of that of an array.

    >>> iinfo("int8").min
    -128
    """
    backend, dtype = _described(type)
    found = backend.xp.iinfo(dtype)
    return IntegerInfo(int(found.bits), int(found.max), int(found.min), found.dtype)


@asking_for_backend
def isdtype(dtype: DType, kind: Any) -> bool:
    """Whether a dtype is of a kind: a name such as 'real floating', a dtype, or one of several.

    >>> isdtype("int8", "integral"), isdtype("int8", ("bool", "real floating"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any([isdtype(dtype, one) for one in kind])
    backend = current()
    if isinstance(kind, str) and kind not in KINDS:
        raise ValueError(f"isdtype: expected kind to be one of {', '.join(KINDS)}, got {kind!r}")
    if isinstance(kind, str):
        # A dtype that the standard does not name, such as float16, is for its library to tell.
        dtype = backend.dtype(dtype)
        return backend.dtype_name(dtype) in KINDS[kind] or bool(backend.xp.isdtype(dtype, kind))
    return bool(backend.dtype(dtype) == kind)


@asking_for_backend
def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion leads from one dtype (or that of an array) to another.

    >>> can_cast("float32", "float64"), can_cast("float64", "float32")
    (True, False)
    """
    backend, dtype = _described(from_)
    return bool(backend.xp.can_cast(dtype, backend.dtype(to)))


@asking_for_backend
def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that promotion gives for arrays, Variables, dtypes, and numbers among them.

    >>> result_type("float32", "float64")
    dtype('float64')
    """
    arrays = arrays_in(arrays_and_dtypes)
    backend = BACKENDS[type(arrays[0])] if arrays else current()
    others = [x for x in map(as_array, arrays_and_dtypes) if not is_array(x)]
    numbers = [python_number(x) for x in others if is_number(x)]
    dtypes = [a.dtype for a in arrays] + [backend.dtype(x) for x in others if not is_number(x)]
    return backend.xp.result_type(*dtypes, *numbers)
