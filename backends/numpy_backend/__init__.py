"""The NumPy backend: arrays on the host. Nothing here is imported until it is looked up."""

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends() -> dict[str, str]:
    """The backend `numpy`."""
    return {"numpy": "backends.numpy_backend.backend:NumpyBackend"}
