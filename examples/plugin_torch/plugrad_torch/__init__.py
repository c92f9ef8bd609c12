"""PyTorch's arrays, devices and kernels for plugrad. Importing this does not import PyTorch."""

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends():
    return {"torch": "plugrad_torch.backend:TorchBackend"}


@hookimpl
def register_kernels(backend):
    if backend != "torch":
        return {}
    from plugrad_torch.kernels import TABLES

    return TABLES
