"""The bundled optimizers, their update rules, and the hooks of both."""

from core import hookimpl
from core.registry import lazily
from plugins.optimizers import hooks

provides = {
    "sgd": "SGD",
    "momentum_sgd": "MomentumSGD",
    "adam": "Adam AdamW AMSGrad AdaBound AMSBound",
}


@hookimpl
def register_optimizers() -> dict[str, str]:
    """Name -> where it is."""
    return lazily(__name__, provides)


@hookimpl
def register_optimizer_hooks() -> dict[str, str]:
    """Name -> where it is."""
    return lazily(hooks.__name__, hooks.provides)
