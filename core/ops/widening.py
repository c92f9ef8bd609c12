"""Computing in a wider dtype than that of the inputs: 16-bit floats, and mixed ones."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import Backend
from core.arrays.spec import Spec
from core.ops.operands import scalar_as_array
from core.ops.operation import Operation
from core.ops.wrappers import Compute

_HALF = ("float16", "bfloat16")
_FLOATS = (*_HALF, "float32", "float64")


def widening(cls: type[Operation], specs: list[Spec]) -> tuple[str | None, Any, bool]:
    """In which dtype floats are computed, None for their own; that of results; if inputs differ.

    Mixed ones are computed in the widest; 16-bit floats in float32 where the class says so, and
    bfloat16 always: NumPy does not know it, and makes float32 or float64 of it and a Python number.
    """
    floats = {spec.name for spec in specs if spec.name in _FLOATS}
    if len(floats) > 1 and cls.domain is not None and cls.domain.mixes:
        wide = "float64" if "float64" in floats else "float32"
        return wide, specs[0].backend.dtype(wide) if cls.promotes else specs[0].dtype, True
    if not cls.wide and not (cls.keeps_dtype and "bfloat16" in floats):
        return None, None, False
    half = next((spec.dtype for spec in specs if spec.name in _HALF), None)
    return None if half is None else "float32", half, False


def widened(compute: Compute, backend: Backend, wide: str, dtype: Any) -> Compute:
    """Narrower floats are computed in `wide`, and rounded once."""

    def computed(f: Operation, xp: Any, *arrays: Any) -> Any:
        result = compute(f, xp, *[widen(xp, backend, a, wide) for a in arrays])
        if type(result) is tuple:
            return tuple([_narrow(xp, backend, y, wide, dtype) for y in result])
        return _narrow(xp, backend, result, wide, dtype)

    return computed


def widen(xp: Any, backend: Backend, value: Any, wide: str) -> Any:
    """Arrays, or Variables, of narrower floats in the dtype `wide`; anything else itself."""
    if type(value) is tuple:
        return tuple([widen(xp, backend, part, wide) for part in value])
    value = scalar_as_array(value)  # as a gradient without axes may be one
    name = backend.dtype_name(value.dtype) if hasattr(value, "dtype") else None
    if name not in _FLOATS[: _FLOATS.index(wide)]:
        return value
    return xp.astype(value, backend.dtype(wide))


def _narrow(xp: Any, backend: Backend, array: Any, wide: str, dtype: Any) -> Any:
    widened = array is not None and backend.dtype_name(array.dtype) == wide
    return xp.astype(array, dtype) if widened and array.dtype != dtype else array


def narrow_all(f: Operation, xp: Any, gradients: tuple[Any, ...], wide: str) -> tuple[Any, ...]:
    """Gradients that were computed in `wide`, each in the dtype of its input."""
    pairs = zip(gradients, [source.spec for source in f._sources], strict=True)
    return tuple([_narrow(xp, spec.backend, g, wide, spec.dtype) for g, spec in pairs])
