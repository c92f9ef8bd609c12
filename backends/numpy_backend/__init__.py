"""The NumPy backend: arrays on the host. Nothing here is imported until it is looked up."""

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends() -> dict[str, str]:
    """The backend `numpy`."""
    return {"numpy": "backends.numpy_backend.backend:NumpyBackend"}


@hookimpl
def register_kernels(backend: str) -> dict[str, dict[str, str]]:
    """The kernels of the NumPy backend."""
    if backend != "numpy":
        return {}
    from backends.numpy_backend import kernels

    return kernels.tables()
