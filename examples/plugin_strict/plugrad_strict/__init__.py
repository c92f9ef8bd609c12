"""A backend for plugrad. Importing this module does not import its library."""

from core import hookimpl

requires_plugin_api = 1


@hookimpl
def register_backends():
    return {"strict": "plugrad_strict.backend:StrictBackend"}
