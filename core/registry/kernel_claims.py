"""Faster implementations for a backend, gathered from every plugin.

A kernel may be faster but never different; yet its last bits may differ, and installing a package
must not change anybody's numbers. So a third party's kernel is used by default only if nobody else
is concerned: for its own backend or its own operation. An operation or update rule is its author's,
known by the package that its module stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from core.errors import NameConflict, PluginError
from core.registry.choice import conflict
from core.registry.index import Snapshot
from core.registry.kernel_key import kernel_key
from core.registry.lazy import is_target, resolve
from core.registry.loader import checked
from core.registry.records import Claim, Plugin, brief
from core.registry.wording import warn

SECTIONS = ("compute", "gradient", "update", "update_all")
Tables = dict[str, dict[str, Callable[..., Any]]]


def merge(snapshot: Snapshot, backend: str) -> Tables:
    """Section -> key of a class, see `kernel_key` -> kernel, for one backend."""
    claimed: dict[str, dict[str, list[Claim]]] = {section: {} for section in SECTIONS}
    for plugin in snapshot.plugins:
        for section, claims in _given(plugin, backend, snapshot.decided.strict).items():
            for key, claim in claims.items():
                claimed[section].setdefault(key, []).append(claim)
    return {
        section: {
            key: kernel
            for key, claims in by_class.items()
            if (kernel := _one(key, claims, snapshot, backend)) is not None
        }
        for section, by_class in claimed.items()
    }


def unfit(plugins: Iterable[Plugin], backend: str) -> Iterator[str]:
    """What is wrong with the kernels that plugins give for a backend, and their classes.

    A class of a package that is not installed is none of it: there is nothing to be computed by it.
    """
    what = f"kernels for {backend}"
    for plugin in plugins:
        tables = _given(plugin, backend, strict=False)
        if what in plugin.problems:
            yield f"The {what} of {plugin} are not used: {brief(plugin.problems[what])}"
        for key in sorted({key for table in tables.values() for key in table if is_target(key)}):
            try:
                resolve(key)
            except Exception as error:
                if getattr(error, "name", None) != _package(key):
                    yield (
                        f"The {what} of {plugin} are for {key!r}, which cannot be imported: "
                        f"{brief(error)}"
                    )


def _given(plugin: Plugin, backend: str, strict: bool) -> dict[str, dict[str, Claim]]:
    if plugin.kernels is None:
        return {}
    try:
        sections = _sections(plugin.kernels(backend))
        return {section: _resolved(plugin, table) for section, table in sections.items()}
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
    if not isinstance(table, Mapping):
        raise PluginError(
            f"register_kernels() gives {type(table).__name__} for a section; expected a mapping of "
            "classes to kernels or 'package.module:attribute' strings."
        )
    claims = {}
    for whose, value in table.items():
        key = kernel_key(whose)
        if value is None or (isinstance(value, str) and not is_target(value)):
            raise PluginError(f"register_kernels() gives {value!r} for {key!r}; expected a kernel.")
        claims[key] = Claim("kernels", key, value, plugin)
    for claim in claims.values():
        claim.resolve()  # now, since a table of kernels is no place for surprises
    return claims


def _one(key: str, claims: list[Claim], snapshot: Snapshot, backend: str) -> Any:
    name = key.rpartition(":")[2].rpartition(".")[2]  # what a preference calls the class
    preferred = snapshot.decided.preferred("kernels", name)
    wanted = [claim for claim in claims if preferred and claim.plugin.key == preferred[0]]
    bundled = [claim for claim in claims if claim.plugin.bundled]
    chosen = wanted or bundled or [c for c in claims if _owns(c.plugin, key, snapshot, backend)]
    if len(chosen) > 1 and not wanted and not bundled:
        text = conflict("kernels", name, chosen)
        if snapshot.decided.strict:
            raise NameConflict(text)
        # Without any of them the formula itself still serves.
        warn(text)
        return None
    return chosen[0].resolve() if chosen else None


def _owns(plugin: Plugin, key: str, snapshot: Snapshot, backend: str) -> bool:
    owners = {claim.plugin.key for claim in snapshot.claims["backends"].get(backend, [])}
    authors = {other.key for other in snapshot.plugins if _package(other.value) == _package(key)}
    return {plugin.key} in (owners, authors)


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0]
