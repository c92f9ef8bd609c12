"""What the differentiable namespace says about itself: its dtypes, devices and capabilities."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import Backend, Device, current
from core.ops.namespace import DTYPES, asking_for_backend

KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]
"""The standard's kinds of dtypes."""


class NamespaceInfo:
    """What the standard asks of `__array_namespace_info__`: an object with these methods."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def capabilities(self) -> dict[str, Any]:
        """Whether indices may be masks, and shapes depend on values, as the backend has it."""
        if hasattr(self._backend.xp, "__array_namespace_info__"):
            return dict(self._backend.xp.__array_namespace_info__().capabilities())
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """The device of new arrays."""
        return self._backend.default_device()

    def devices(self) -> list[Device]:
        """The devices of the backend."""
        return self._backend.devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays for which none is given, by kind."""
        examples = {"real floating": 0.0, "complex floating": 0j, "integral": 0, "indexing": 0}
        return {kind: self._backend.xp.asarray(x).dtype for kind, x in examples.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes that functions take, by name, of a kind or several; none is complex."""
        kinds = (kind,) if isinstance(kind, str) else kind
        chosen = DTYPES if kinds is None else [name for k in kinds for name in KINDS[k]]
        real = [name for name in chosen if name not in KINDS["complex floating"]]
        return {name: self._backend.dtype(name) for name in real if hasattr(self._backend.xp, name)}


@asking_for_backend
def namespace_info() -> NamespaceInfo:
    """What `__array_namespace_info__` of the namespace gives, for the current backend."""
    return NamespaceInfo(current())
