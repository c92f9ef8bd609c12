"""The NumPy backend: arrays on the host. Nothing here is imported until it is looked up."""

from backends.numpy_backend.kernels import COMPUTE, GRADIENT, UPDATE
from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends() -> dict[str, str]:
    """The backend `numpy`."""
    return {"numpy": "backends.numpy_backend.backend:NumpyBackend"}


@hookimpl
def register_kernels(backend: str) -> dict[str, dict[str, str]]:
    """The kernels of the NumPy backend."""
    tables = {"compute": COMPUTE, "gradient": GRADIENT, "update": UPDATE}
    return tables if backend == "numpy" else {}
