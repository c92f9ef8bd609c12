"""`plugrad plugins` and `plugrad backends`: what is installed, and in which state."""

from __future__ import annotations

from typing import Any

from core import registry
from core.registry.records import brief, distributions
from core.registry.wording import failure
from core.show.report import Report, table


def plugins() -> Report:
    """Every plugin with its distribution, version, state and what it gives; and open conflicts."""
    found = registry.installed.plugins()
    conflicts = _conflicts()
    data = {
        "plugin_api": registry.PLUGIN_API,
        "plugins": [_plugin(plugin) for plugin in found],
        "conflicts": conflicts,
    }
    rows = [[p.name, p.distribution, p.version, _state(p), _summary(p)] for p in found]
    parts = [table(["plugin", "distribution", "version", "state", "gives"], rows)]
    parts += [failure(plugin) for plugin in found if plugin.state == "failed"]
    parts += [
        f"{what} of {plugin} cannot be used: {brief(error)}"
        for plugin in found
        for what, error in plugin.problems.items()
    ]
    parts += [_conflict(conflict) for conflict in conflicts]
    if not any(plugin.bundled for plugin in found):
        parts.append(registry.catalogue("functions").why_missing("*"))
    return Report(data, "\n\n".join(parts))


def _plugin(plugin: registry.Plugin) -> dict[str, Any]:
    return {
        "plugin": plugin.name,
        "entry_point": plugin.value,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "bundled": plugin.bundled,
        "state": plugin.state,
        "cause": brief(plugin.cause) if plugin.cause else None,
        "gives": plugin.gives,
        "kernels": plugin.kernels is not None,
        "problems": {what: brief(error) for what, error in plugin.problems.items()},
    }


def _state(plugin: registry.Plugin) -> str:
    return "with problems" if plugin.state == "loaded" and plugin.problems else plugin.state


def _summary(plugin: registry.Plugin) -> str:
    given = [
        f"{kind}: {', '.join(names)}" if len(names) <= 3 else f"{len(names)} {kind}"
        for kind, names in plugin.gives.items()
    ]
    return "; ".join(given + ["kernels"] * (plugin.kernels is not None))


def _conflicts() -> list[dict[str, Any]]:
    return [
        {"kind": kind, "name": name, "distributions": distributions(catalogue.claims(name))}
        for kind in registry.KINDS
        for catalogue in [registry.catalogue(kind)]
        for name in catalogue.conflicts()
    ]


def _conflict(conflict: dict[str, Any]) -> str:
    catalogue = registry.catalogue(conflict["kind"])
    try:
        catalogue.claim(conflict["name"])
    except AttributeError as error:
        return str(error)
    return ""


def backends() -> Report:
    """Every registered backend: available, or unavailable and why."""
    default = _default()
    data = [_backend(name, default) for name in registry.catalogue("backends").names()]
    rows = [
        [
            row["backend"] + ("*" if row["default"] else ""),
            row["distribution"],
            row["version"],
            "available" if row["available"] else "unavailable",
            row["reason"] or "",
        ]
        for row in data
    ]
    text = table(["backend", "distribution", "version", "state", "reason"], rows)
    return Report(data, text + "\n* where new arrays are made by default")


def _backend(name: str, default: str | None) -> dict[str, Any]:
    claim = registry.catalogue("backends").claim(name)
    reason = _reason(claim)
    return {
        "backend": name,
        "distribution": claim.plugin.distribution,
        "version": claim.plugin.version,
        "available": reason is None,
        "reason": reason,
        "default": name == default,
    }


def _reason(claim: Any) -> str | None:
    try:
        reason: str | None = claim.resolve().unavailable()
    except Exception as error:  # a broken backend is listed as such; the others stay
        return brief(error)
    return reason


def _default() -> str | None:
    from core.arrays import backend
    from core.errors import CoreError

    try:
        return backend.current().name
    except CoreError:
        return None
