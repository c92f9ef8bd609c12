"""Specs: what two arrays must have in common to be treated alike, as one shared object.

Reading `array.shape` costs more than a look-up, so an operation asks for the spec of its inputs,
which Variables carry, and finds by it, in one table, whether they fit, which function computes, and
the spec of the result. Specs are interned: alike arrays have the same spec object. One made twice
(by two threads, or after the table was emptied) costs a second look-up and nothing else.
"""

from __future__ import annotations

from typing import Any

from core.arrays.array_backend import known
from core.arrays.backend import BACKENDS, Backend
from core.registry.once import publishing

_LIMIT = 4096
_specs: dict[tuple[Any, ...], Spec] = {}
_in_one_place: dict[tuple[Any, ...], Spec] = known.of_shapes
"""The specs of arrays that need not be asked for their device, by type, shape and dtype."""


class Spec:
    """Backend, shape, dtype and device of an array; `xp` is what formulas compute with on it."""

    __slots__ = ("backend", "device", "dtype", "kind", "name", "shape", "type", "xp")

    def __init__(self, backend: Backend, shape: tuple[int, ...], dtype: Any, device: Any) -> None:
        self.backend = backend
        self.type = backend.array_type
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.kind = backend.kind(dtype)
        self.name = backend.dtype_name(dtype)
        self.xp = backend.ops_xp(shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Spec({self.backend.name}, {self.shape}, {self.name}, {self.device})"


def intern(backend: Backend, shape: tuple[int, ...], dtype: Any, device: Any) -> Spec:
    """The one spec of these four."""
    key = (backend, shape, dtype, device)
    spec = _specs.get(key)
    if spec is None:
        if len(_specs) >= _LIMIT:
            _specs.clear()
        spec = _specs.setdefault(key, Spec(backend, shape, dtype, device))
    return spec


def spec_of(array: Any) -> Spec | None:
    """The spec of an array; None for None, the array of a parameter that has no shape yet."""
    if array is None:
        return None
    key = (type(array), array.shape, array.dtype)
    try:
        return _in_one_place[key]
    except KeyError:
        return _look_up(array, key)


def _look_up(array: Any, key: tuple[Any, ...]) -> Spec:
    changes = known.added
    backend = BACKENDS[type(array)]
    spec = intern(backend, tuple(array.shape), array.dtype, backend.spec_device(array))
    if spec.device is None:
        with publishing:
            if len(_in_one_place) >= _LIMIT:
                _in_one_place.clear()
            if known.added is changes:
                _in_one_place[key] = spec
    return spec


def ensure_array(value: Any, like: Spec | None) -> Any:
    """`value` as an array of the backend of `like`, where a library made a scalar of it."""
    return value if like is None or type(value) is like.type else like.backend.asarray(value)
