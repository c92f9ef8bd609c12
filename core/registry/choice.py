"""Who gets a name that several plugins claim: the policy, and the words that explain it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import NameConflict, PluginError, nearest
from core.registry.kinds import FACADES
from core.registry.records import Claim, distributions, shown
from core.registry.settings import PREFER, SECTION, Settings


def choose(kind: str, name: str, claims: Sequence[Claim], settings: Settings) -> Claim:
    """The claim that holds: the preferred one, or the bundled one, or the only one."""
    preferred = settings.preferred(kind, name)
    if preferred is not None:
        distribution, source, by_name = preferred
        for claim in claims:
            if claim.plugin.key == distribution:
                return claim
        if by_name:
            raise NameConflict(
                f"{shown(kind, name)}: {source} prefers {distribution!r}, which does not provide "
                f"it here. Who does: {', '.join(distributions(claims))}."
            )
    for claim in claims:
        if claim.plugin.bundled:
            return claim
    if len(claims) > 1:
        raise NameConflict(conflict(kind, name, claims))
    return claims[0]


def conflict(kind: str, name: str, claims: Sequence[Claim]) -> str:
    """Who claims a name, and the three ways to choose."""
    who = "\n".join(
        f"  {claim.plugin} (plugin {claim.plugin.name!r}, {claim.plugin.value})" for claim in claims
    )
    one = claims[0].plugin.distribution
    each_time = (
        f"\nOr say which each time: {FACADES[kind]}.of({one!r}).{name}" if (kind in FACADES) else ""
    )
    return (
        f"{shown(kind, name)} is claimed by {len(claims)} distributions, and none of them wins:\n"
        f"{who}\nChoose one, for example\n"
        f"  core.plugins.prefer({kind!r}, {name!r}, {one!r})   in the program\n"
        f"  {PREFER}={kind}.{name}={one}   in the environment\n"
        f'  prefer = {{"{kind}.{name}" = "{one}"}}   under {SECTION} in pyproject.toml{each_time}'
    )


def check_preference(kind: str, name: str, distribution: str, providers: Iterable[str]) -> None:
    """Refuse a preference for a distribution that does not provide the name."""
    providers = list(providers)
    if distribution not in providers:
        raise PluginError(
            f"core.plugins.prefer: {distribution!r} does not provide {shown(kind, name)}. Who "
            f"does: {', '.join(providers) or 'nobody'}.{nearest(distribution, providers)}"
        )
