"""The bundled links, in families of small modules."""

from importlib import import_module

from core import hookimpl
from core.registry import lazily

families = (
    "activation",
    "array",
    "attention",
    "connection",
    "loss",
    "model",
    "noise",
    "normalization",
    "pooling",
    "rnn",
)


@hookimpl
def register_links() -> dict[str, str]:
    """Name -> where it is, over all families."""
    packages = [f"{__name__}.{family}" for family in families]
    return {
        name: target
        for package in packages
        for name, target in lazily(package, import_module(package).provides).items()
    }
