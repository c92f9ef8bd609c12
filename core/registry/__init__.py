"""What is known and chosen: installed plugins and the names they provide, configuration, settings.

Start with `environment`, which answers for this process; `hookspecs` is the contract with plugins,
`paths` the table of old module paths. Nothing of it looks for plugins before somebody asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.registry.catalogues import Catalogue as Catalogue
    from core.registry.catalogues import Offer as Offer
    from core.registry.environment import absent as absent
    from core.registry.environment import catalogue as catalogue
    from core.registry.environment import current as current
    from core.registry.environment import facade as facade
    from core.registry.environment import kernels as kernels
    from core.registry.facades import Facade as Facade
    from core.registry.index import Registry as Registry
    from core.registry.kinds import KINDS as KINDS
    from core.registry.lazy import lazily as lazily
    from core.registry.records import PLUGIN_API as PLUGIN_API
    from core.registry.records import BrokenName as BrokenName
    from core.registry.records import Plugin as Plugin
    from core.registry.records import PluginWarning as PluginWarning

_HOMES = {
    "KINDS": "kinds",
    "PLUGIN_API": "records",
    "BrokenName": "records",
    "Catalogue": "catalogues",
    "Facade": "facades",
    "Offer": "catalogues",
    "Plugin": "records",
    "PluginWarning": "records",
    "Registry": "index",
    "absent": "environment",
    "catalogue": "environment",
    "current": "environment",
    "facade": "environment",
    "kernels": "environment",
    "lazily": "lazy",
}

_MODULES = (
    "configuration",
    "hookspecs",
    "kernel_key",
    "kinds",
    "loader",
    "once",
    "paths",
    "plugins",
    "public",
    "records",
    "signatures",
    "wording",
)

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    """Each name loads its own file, and what that needs."""
    if name not in _HOMES:
        raise AttributeError(f"module 'core.registry' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"core.registry.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
