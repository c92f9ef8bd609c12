"""Written for a plugin API that does not exist yet."""

from core import hookimpl

requires_plugin_api = 99


@hookimpl
def register_functions():
    return {"warp": "plugrad_future:warp"}
