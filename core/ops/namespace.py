"""The differentiable namespace: the array standard's names, on Variables.

Gradient rules are given that of their inputs' backend in place of its own when the graph of the
gradients is needed, and `Variable.__array_namespace__()` returns it: new arrays and dtypes in it
are those of the backend. The names come from plugins (`register_namespace`).
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from core import registry
from core.arrays.backend import Backend, using
from core.arrays.backend import current as current_backend
from core.errors import UnknownName, nearest

VERSION = "2024.12"
"""The version of the array API standard whose names these are."""

_VERSIONS = ("2021.12", "2022.12", "2023.12", VERSION)

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
"""Names of the standard's dtypes."""


class Namespace:
    """The standard's functions by name, on Variables, differentiable; each is looked up once.

    Dtypes, and arrays made of numbers, are those of `backend`, or of the current one without it.
    """

    __array_api_version__ = VERSION
    __name__ = "core.ops.namespace"  # as libraries ask of what might have been a module
    newaxis = None

    def __init__(self, backend: Backend | None = None) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return (self._backend or current_backend()).dtype(name)
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._placed(_find(name))
        setattr(self, name, found)
        return found

    def __array_namespace_info__(self) -> Any:
        """Dtypes, devices, defaults and capabilities of the backend."""
        return self.namespace_info()

    def _placed(self, function: Any) -> Any:
        """A function that asks for the current backend, such that this one's is current."""
        backend = self._backend
        if backend is None or not getattr(function, "asks_for_backend", False):
            return function

        @wraps(function)
        def placed(*args: Any, **kwargs: Any) -> Any:
            with using(backend):
                return function(*args, **kwargs)

        return placed

    def __dir__(self) -> list[str]:
        return _names()

    def __repr__(self) -> str:
        where = f" of backend {self._backend.name!r}" if self._backend else ""
        return f"<the differentiable namespace{where}>"

    def __reduce__(self) -> Any:
        return "namespace" if self._backend is None else (namespace_of, (self._backend,))


namespace = Namespace()
_by_backend: dict[Backend, Namespace] = {}


def namespace_of(backend: Backend, api_version: str | None = None) -> Namespace:
    """The differentiable namespace whose new arrays are those of a backend.

    Raises ValueError for a version of the standard that is not among those whose names are here.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"__array_namespace__: expected api_version to be one of {', '.join(_VERSIONS)}, "
            f"got {api_version!r}"
        )
    found = _by_backend.get(backend)
    if found is None:
        found = _by_backend.setdefault(backend, Namespace(backend))
    return found


def asking_for_backend(function: Any) -> Any:
    """Mark a function of the namespace that makes arrays or reads dtypes of the current backend."""
    function.asks_for_backend = True
    return function


def _find(name: str) -> Any:
    catalogue = registry.catalogue("namespace")
    if name in catalogue:
        found = catalogue.get(name)
        # An operation, or its first call, stands for the specialised call.
        operation = getattr(found, "operation", found)
        return operation.ready_call() if hasattr(operation, "ready_call") else found
    raise UnknownName(
        f"the differentiable namespace has no {name!r}.{nearest(name, _names())} "
        "On a plain array, compute with the array's own library."
    )


def _names() -> list[str]:
    provided = registry.catalogue("namespace").names()
    return sorted({*provided, *DTYPES, "newaxis"})
