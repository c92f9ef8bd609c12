"""What plugins give to Variables: functions, the array standard's, and NumPy's.

The modules are loaded when first asked for; all but the facade stand above this room.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from core.arrays.backend import Backend


class Provider(Protocol):
    """What they ask of core.ops.namespace."""

    namespace: Any

    def namespace_of(self, backend: Backend, api_version: str | None = None) -> Any:
        """Give the namespace whose new arrays are those of a backend."""


class NumpyFunctions(Protocol):
    """What they ask of core.compat.numpy_functions."""

    def as_numpy(self, x: Any, dtype: Any, copy: bool | None) -> Any:
        """Answer `numpy.asarray`."""

    def from_ufunc(self, ufunc: Any, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
        """Answer a ufunc."""

    def from_array_function(self, function: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        """Answer any other function of NumPy's."""

    def only_looked_at(self, frame: Any) -> bool:
        """Whether who asks is a library that only looks."""


functions: Any  # a facade
provider: Provider
numpy_functions: NumpyFunctions

LATE = {
    "functions": "core.functions",
    "provider": "core.ops.namespace",
    "numpy_functions": "core.compat.numpy_functions",
}


def __getattr__(name: str) -> Any:
    if name not in LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(LATE[name])
    return module
