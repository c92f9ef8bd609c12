"""The CUDA backend: arrays on NVIDIA GPUs, by CuPy. Importing this does not import CuPy."""

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends() -> dict[str, str]:
    """The backend `cuda`."""
    return {"cuda": "backends.cuda_backend.backend:CudaBackend"}


@hookimpl
def register_kernels(backend: str) -> dict[str, dict[str, str]]:
    """The kernels of the CUDA backend."""
    if backend != "cuda":
        return {}
    from backends.cuda_backend import operations

    return operations.tables()
