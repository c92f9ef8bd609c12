"""Choices of a program about plugins: which to prefer and disable; and a list of them.

The same can be said in the environment (`PLUGRAD_PREFER`, `PLUGRAD_DISABLE_PLUGINS`,
`PLUGRAD_PLUGINS_STRICT`) and under `[tool.plugrad]` in the working directory's `pyproject.toml`.
"""

from __future__ import annotations

import builtins

from core import registry
from core.errors import PluginError, checked, nearest
from core.registry.choice import check_preference
from core.registry.public import listing
from core.registry.records import canonical, distributions

API = registry.PLUGIN_API
"""The plugin API of this plugrad; a plugin states its own as `requires_plugin_api`."""


@checked
def prefer(kind: str, name: str, distribution: str) -> None:
    """Let `name` of `kind` be what `distribution` provides, from now on in this process.

    `name` may be `'*'`, every name of that kind which the distribution provides. It resolves a
    conflict between two third parties, and lets a third party replace a bundled name.

    Raises PluginError where the distribution provides no such name, UnknownName for a kind that
    does not exist.

    >>> prefer("function", "relu", "plugrad")
    Traceback (most recent call last):
    core.errors.UnknownName: No kind of plugin is called 'function'. Did you mean 'functions'?
    """
    key = canonical(distribution)
    if kind == "kernels":
        # Which operations have kernels is known only when a backend asks for its own.
        _check_installed("prefer", key)
    else:
        catalogue = registry.catalogue(kind)
        if name == "*":
            catalogue.of(key)
        else:
            check_preference(kind, name, key, distributions(catalogue.claims(name)))
    registry.installed.prefer(f"{kind}.{name}", key)


@checked
def disable(distribution: str) -> None:
    """Disable all plugins of a distribution, from now on in this process.

    Raises PluginError for a distribution that has no plugins here.

    >>> disable("plugrad-no-such")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    core.errors.PluginError: core.plugins.disable: no installed plugin is of 'plugrad-no-such'; ...
    """
    key = canonical(distribution)
    if key != "*":
        _check_installed("disable", key)
    registry.installed.disable(key)


def list() -> builtins.list[registry.Plugin]:
    """List every plugin found in this environment, with its state and what it provides.

    >>> sorted(plugin.name for plugin in list() if plugin.name in ("functions", "numpy"))
    ['functions', 'numpy']
    """
    return registry.installed.plugins()


def _check_installed(where: str, key: str) -> None:
    known = sorted({plugin.key for plugin in list()})
    if key not in known:
        raise PluginError(
            f"core.plugins.{where}: no installed plugin is of {key!r}; there are plugins of "
            f"{', '.join(known)}.{nearest(key, known)}"
        )


__all__ = ["API", "disable", "list", "prefer"]

__dir__ = listing(__name__)
