"""Claims a name of plugrad-mish, and one of plugrad's own."""

from core import hookimpl

requires_plugin_api = 1


def mish(x):
    """Not the other distribution's mish."""
    return "rival mish"


def relu(x):
    """Not plugrad's relu."""
    return "rival relu"


@hookimpl
def register_functions():
    return {"mish": mish, "relu": relu}
