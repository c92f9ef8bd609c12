"""From entry points to plugins with claims, one at a time, so that a broken one stays alone.

pluggy validates what a plugin implements; its own entry-point loader is not used because it stops
at the first failing import and silently drops the second of two plugins of one name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Any, Protocol

from core.errors import PluginError, nearest
from core.registry.kinds import HOOKS
from core.registry.lazy import is_target
from core.registry.records import OLDEST_PLUGIN_API, PLUGIN_API, Claim, Plugin

RESERVED = ("of",)


class EntryPoint(Protocol):
    """What is used of an entry point."""

    @property
    def name(self) -> str:
        """The plugin's name."""

    @property
    def value(self) -> str:
        """'package.module' or 'package.module:attribute'."""

    @property
    def dist(self) -> Any:
        """The distribution that declares it, with `name` and `version`."""

    def load(self) -> Any:
        """Import what it names."""


def find(entry_points: Iterable[EntryPoint]) -> list[tuple[Plugin, EntryPoint]]:
    """A record for each entry point, in an order that installation does not change."""
    known: list[Any] = []
    found = []
    for entry in entry_points:
        if not known or known[0] is not entry.dist:  # each asking reads the whole of its metadata
            asked = [getattr(entry.dist, each, None) or "unknown" for each in ("name", "version")]
            known = [entry.dist, *asked]
        found.append((Plugin(entry.name, entry.value, *known[1:]), entry))
    return sorted(found, key=lambda pair: (pair[0].key, pair[0].name))


def load(plugin: Plugin, entry: EntryPoint, loaded: Mapping[int, Plugin]) -> Any:
    """Import and validate one plugin, filling in its claims; returns the imported object.

    An object among `loaded` (by identity) is named by two entry points, and counts once.
    """
    subject = entry.load()
    if id(subject) in loaded:
        return subject
    _check_api(plugin, subject)
    claims: list[Claim] = []
    kernels = None
    for hook, implementation in _implementations(subject, plugin):
        if hook == "register_kernels":
            kernels = _with_backend(implementation)
        else:
            given = implementation.function()
            claims += [
                Claim(HOOKS[hook].name, *item, plugin) for item in checked(hook, given).items()
            ]
    plugin.claims, plugin.kernels = claims, kernels
    return subject


def checked(hook: str, given: Any) -> Mapping[str, Any]:
    """What a hook returned, refused where it is not name -> object or lazy string."""
    expected = "a mapping of names to objects or 'package.module:attribute' strings"
    if not isinstance(given, Mapping):
        raise PluginError(f"{hook}() returned {type(given).__name__}; expected {expected}.")
    for name, value in given.items():
        if HOOKS[hook].by_class:
            if not isinstance(name, str) or not is_target(name):
                raise PluginError(f"{hook}() gives {name!r}; expected 'package.module:Class'.")
        elif not isinstance(name, str) or not _is_public(name):
            raise PluginError(f"{hook}() gives the name {name!r}; expected a public identifier.")
        if name in RESERVED:
            raise PluginError(f"{hook}() gives the name {name!r}, which is reserved.")
        if value is None or (isinstance(value, str) and not is_target(value)):
            raise PluginError(f"{hook}() gives {value!r} for {name!r}; expected {expected}.")
    return given


def _is_public(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_") and not iskeyword(name)


def _check_api(plugin: Plugin, subject: Any) -> None:
    wanted = getattr(subject, "requires_plugin_api", OLDEST_PLUGIN_API)
    if isinstance(wanted, bool) or not isinstance(wanted, int):
        raise PluginError(f"requires_plugin_api is {wanted!r}; expected an integer.")
    if wanted > PLUGIN_API:
        raise PluginError(
            f"written for plugin API {wanted}, and this plugrad speaks {PLUGIN_API}: "
            f"upgrade plugrad, or install an older {plugin.distribution}."
        )
    if wanted < OLDEST_PLUGIN_API:
        raise PluginError(
            f"written for plugin API {wanted}, and this plugrad speaks {OLDEST_PLUGIN_API} to "
            f"{PLUGIN_API}: install a newer {plugin.distribution}, or an older plugrad."
        )


def _implementations(subject: Any, plugin: Plugin) -> list[tuple[str, Any]]:
    import pluggy

    manager = _manager()
    try:
        manager.register(subject, name=plugin.name)
    except pluggy.PluginValidationError as error:
        _manager.cache_clear()  # what pluggy refuses half-way stays in it
        raise PluginError(_wrong_signature(error)) from error
    try:
        return _validated(subject, manager)
    finally:
        manager.unregister(subject)


@cache
def _manager() -> Any:
    """A manager of pluggy that knows the hooks; to tell it takes as long as to load a plugin."""
    import pluggy

    from core.registry import hookspecs

    manager = pluggy.PluginManager("plugrad")
    manager.add_hookspecs(hookspecs)
    return manager


def _validated(subject: Any, manager: Any) -> list[tuple[str, Any]]:
    found = []
    for caller in manager.get_hookcallers(subject) or []:
        if not caller.has_spec():
            raise PluginError(f"unknown hook {caller.name!r}.{nearest(caller.name, HOOKS)}")
        for implementation in caller.get_hookimpls():
            if implementation.wrapper or implementation.hookwrapper:
                raise PluginError(f"{caller.name} is a hook wrapper; only plain hooks are used.")
            found.append((caller.name, implementation))
    if not found:
        raise PluginError(_nothing_implemented(subject))
    return found


def _wrong_signature(error: Exception) -> str:
    """What pluggy says, which takes several lines, and the arguments that hooks have."""
    reason = "; ".join(str(error).split("\n"))
    return f"{reason}. Hooks take no arguments, but for register_kernels(backend)."


def _nothing_implemented(subject: Any) -> str:
    bare = [hook for hook in HOOKS if callable(getattr(subject, hook, None))]
    if bare:
        return f"{bare[0]}() is not decorated: write @core.hookimpl above it."
    return "implements no hook; expected one such as register_functions, under @core.hookimpl."


def _with_backend(implementation: Any) -> Any:
    if "backend" in implementation.argnames:
        return implementation.function
    return lambda backend: implementation.function()


def refuse_shadow(plugin: Plugin, error: BaseException) -> None:
    """Raise where a bundled plugin failed because something else has the name of its package."""
    ours = Path(__file__).resolve().parents[2]
    package = plugin.value.partition(".")[0]
    file = getattr(sys.modules.get(package), "__file__", None)
    if plugin.bundled and file is not None and not Path(file).resolve().is_relative_to(ours):
        raise PluginError(
            f"{file} is in the way of plugrad's own package {package!r} in {ours}: rename or move "
            "it, or start Python where its folder is not searched."
        ) from error
