"""JAX's arrays for plugrad. Importing this does not import JAX."""

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends():
    return {"jax": "plugrad_jax.backend:JaxBackend"}


@hookimpl
def register_kernels(backend):
    if backend != "jax":
        return {}
    return {
        "compute": {
            "plugins.functions.array.get_item:GetItem": "plugrad_jax.arrays:get_item",
            "plugins.functions.array.take:Take": "plugrad_jax.arrays:take",
            "plugins.functions.namespace.selection:TakeAlongAxis": "plugrad_jax.arrays:take",
        }
    }
