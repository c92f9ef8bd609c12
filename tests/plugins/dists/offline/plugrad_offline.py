"""A backend that cannot run anywhere, and a name whose module is missing."""

from core import hookimpl
from core.arrays.backend import Backend

requires_plugin_api = 1


class Offline(Backend):
    """An array library without a machine."""

    name = "offline"
    library = "a_library_that_is_not_installed"
    xp = None
    array_type = frozenset
    random = None

    @classmethod
    def unavailable(cls):
        return "The moon is not in range."

    def asarray(self, obj, dtype=None, device=None):
        raise AssertionError("no array is made where a backend is not available")

    def to_host(self, array):
        raise AssertionError("no array is found where a backend is not available")


@hookimpl
def register_backends():
    return {"offline": Offline}


@hookimpl
def register_functions():
    return {"mislaid": "plugrad_offline.nowhere:mislaid"}
