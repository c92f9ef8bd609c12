"""Numbers that name classes, rows or items, refused where they name none."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import Backend, of
from core.errors import OutOfRange
from core.errors.interval import first_outside
from plugins.functions.refusal import refused


def widened(xp: Any, numbers: Any) -> Any:
    """Numbers in a dtype that holds -1 and those of all classes: as int64, unless theirs does.

    A class of 300 is none of uint8: it would be compared as 44. Of uint64, what int64 does not hold
    becomes its last number: 2**64 - 1 would be taken for -1.
    """
    dtype = numbers.dtype
    key = type(dtype), dtype  # those of two libraries may not be compared
    narrow = _known.get(key)
    if narrow is None:
        name = of(numbers).dtype_name(dtype)
        narrow = _known[key] = name if name in _NARROW else ""
    if narrow == "uint64":
        numbers = xp.clip(numbers, None, _LAST)
    return xp.astype(numbers, xp.int64) if narrow else numbers


_NARROW = ("int8", "int16", "uint8", "uint16", "uint32", "uint64")
_LAST = (1 << 63) - 1
_known: dict[tuple[type, Any], str] = {}
"""The names of dtypes, of any library, that are among these; "" of all others."""


def refuse_outside(
    where: str, backend: Backend, name: str, numbers: Any, size: int, cure: str
) -> None:
    """Raise where the input `name` of an operation is not in [0, size) everywhere.

    It costs one pass over the numbers; none on devices that run ahead of the host, where only debug
    mode looks. Without it, a negative number would count from the end.
    """
    if backend.kind(numbers.dtype) not in "iu":
        raise refused(where, f"{name}.dtype is integral", f"{numbers.dtype}")
    if backend.outside(numbers, size):
        got = first_outside(backend.to_host(numbers), size)
        raise OutOfRange(f"{where}: expected {name} in [0, {size}), got {got}. {cure}")


def refuse_beyond(where: str, numbers: Any, axis: int, size: int) -> None:
    """Raise IndexError where numbers of an index, which may count from the end, leave an axis.

    It looks as `refuse_outside` does; truth values are passed over.
    """
    backend = of(numbers)
    if backend.kind(numbers.dtype) not in "iu":
        return
    wide = backend.xp.astype(numbers, backend.xp.int64)
    if backend.outside(wide + size, 2 * size):
        raise IndexError(
            f"{where}: expected numbers from {-size} to {size - 1} for axis {axis}, got others."
        )
