"""Faster implementations for a backend, gathered from every plugin.

A kernel may be faster but never different; yet its last bits may differ, and installing a package
must not change anybody's numbers. So a third party's kernel is used unasked only where nobody else
is concerned: for its own backend or its own operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.errors import NameConflict, PluginError
from core.registry.choice import conflict
from core.registry.index import Snapshot
from core.registry.loader import checked
from core.registry.records import Claim, Plugin, brief
from core.registry.wording import warn

SECTIONS = ("compute", "gradient", "update")
Tables = dict[str, dict[str, Callable[..., Any]]]


def merge(snapshot: Snapshot, backend: str) -> Tables:
    """Section -> operation -> kernel, for one backend."""
    claimed: dict[str, dict[str, list[Claim]]] = {section: {} for section in SECTIONS}
    for plugin in snapshot.plugins:
        for section, claims in _given(plugin, backend, snapshot.decided.strict).items():
            for name, claim in claims.items():
                claimed[section].setdefault(name, []).append(claim)
    return {
        section: {
            name: kernel
            for name, claims in by_name.items()
            if (kernel := _one(name, claims, snapshot, backend)) is not None
        }
        for section, by_name in claimed.items()
    }


def _given(plugin: Plugin, backend: str, strict: bool) -> dict[str, dict[str, Claim]]:
    if plugin.kernels is None:
        return {}
    try:
        given = plugin.kernels(backend)
        return {section: _resolved(plugin, table) for section, table in _sections(given).items()}
    except (Exception, SystemExit) as error:
        what = f"kernels for {backend}"
        plugin.problems[what] = error
        text = f"The {what} of {plugin} are not used: {brief(error)}"
        if strict:
            raise PluginError(text) from error
        warn(text)
        return {}


def _sections(given: Any) -> Mapping[str, Any]:
    found = checked("register_kernels", given)
    unknown = [section for section in found if section not in SECTIONS]
    if unknown:
        raise PluginError(
            f"register_kernels() gives the section {unknown[0]!r}; expected {', '.join(SECTIONS)}."
        )
    return found


def _resolved(plugin: Plugin, table: Any) -> dict[str, Claim]:
    claims = {
        name: Claim("kernels", name, value, plugin)
        for name, value in checked("register_kernels", table).items()
    }
    for claim in claims.values():
        claim.resolve()  # now, since a table of kernels is no place for surprises
    return claims


def _one(name: str, claims: list[Claim], snapshot: Snapshot, backend: str) -> Any:
    preferred = snapshot.decided.preferred("kernels", name)
    wanted = [claim for claim in claims if preferred and claim.plugin.key == preferred[0]]
    allowed = wanted or [
        claim
        for claim in claims
        if claim.plugin.bundled or _owns(claim.plugin, name, snapshot, backend)
    ]
    bundled = [claim for claim in allowed if claim.plugin.bundled]
    if len(allowed) > 1 and not wanted and not bundled:
        text = conflict("kernels", name, allowed)
        if snapshot.decided.strict:
            raise NameConflict(text)
        # Without any of them the formula itself still serves.
        warn(text)
        return None
    chosen = wanted or bundled or allowed
    return chosen[0].resolve() if chosen else None


def _owns(plugin: Plugin, operation: str, snapshot: Snapshot, backend: str) -> bool:
    owners = {claim.plugin.key for claim in snapshot.claims["backends"].get(backend, [])}
    if owners == {plugin.key}:
        return True
    ours = {
        claim.plugin.key
        for kind in ("functions", "optimizers")
        for name, claims in snapshot.claims[kind].items()
        if _plain(name) == _plain(operation)
        for claim in claims
    }
    return ours == {plugin.key}


def _plain(name: str) -> str:
    # The function leaky_relu and its operation LeakyReLU are one thing.
    return name.replace("_", "").lower()
