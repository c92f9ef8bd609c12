"""The bundled functions, family by family; nothing is imported until a name is asked for.

Each family is a package that says what it `provides`: its modules, and the public names in each.
"""

from __future__ import annotations

from importlib import import_module

from core import hookimpl
from core.registry import lazily

requires_plugin_api = 1

families = (
    "activation",
    "array",
    "attention",
    "connection",
    "evaluation",
    "loss",
    "math",
    "noise",
    "normalization",
    "pooling",
    "rnn",
    "util",
)


@hookimpl
def register_functions() -> dict[str, str]:
    """Every public name of every family."""
    merged: dict[str, str] = {}
    for family in families:
        package = f"{__name__}.{family}"
        merged |= lazily(package, import_module(package).provides)
    return merged


@hookimpl
def register_namespace() -> dict[str, str]:
    """The array standard's names, on Variables."""
    from plugins.functions.namespace import provided

    return provided()
