"""What is known and chosen: installed plugins and the names they provide, configuration, settings.

Start with `kinds`, the table of what plugins give, and `environment`, which answers for this
process; `hookspecs` is the contract with plugins, `paths` the table of old module paths. Nothing
here looks for plugins before they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.registry.public import exporting

if TYPE_CHECKING:
    from core.registry.catalogues import Catalogue as Catalogue
    from core.registry.catalogues import Offer as Offer
    from core.registry.environment import absent as absent
    from core.registry.environment import catalogue as catalogue
    from core.registry.environment import facade as facade
    from core.registry.environment import installed as installed
    from core.registry.environment import kernels as kernels
    from core.registry.index import Registry as Registry
    from core.registry.kinds import KINDS as KINDS
    from core.registry.lazy import lazily as lazily
    from core.registry.records import PLUGIN_API as PLUGIN_API
    from core.registry.records import BrokenName as BrokenName
    from core.registry.records import Plugin as Plugin
    from core.registry.records import PluginWarning as PluginWarning
else:  # checkers shall not take every name for known
    __getattr__, __dir__ = exporting(
        __name__,
        {
            "core.registry.catalogues": "Catalogue Offer",
            "core.registry.environment": "absent catalogue facade installed kernels",
            "core.registry.index": "Registry",
            "core.registry.kinds": "KINDS",
            "core.registry.lazy": "lazily",
            "core.registry.records": "PLUGIN_API BrokenName Plugin PluginWarning",
        },
        "backends configuration declared hook hookspecs kernel_claims kernel_key kernel_table "
        "kinds loader once paths plugins public records signatures threads wording",
    )
