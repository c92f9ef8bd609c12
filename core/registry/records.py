"""What the registry keeps: plugins as found in the environment, and the names that they claim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.errors import PluginError, UnknownName
from core.registry.contract import misfit
from core.registry.kinds import FACADES, KINDS
from core.registry.lazy import resolve

BUNDLED = "plugrad"
PLUGIN_API = 1
OLDEST_PLUGIN_API = 1


class PluginWarning(UserWarning):
    """A plugin that could not be used; everything else goes on working."""


class BrokenName(PluginError, UnknownName):
    """A name that a plugin registered, but whose object cannot be imported."""


def canonical(distribution: str) -> str:
    """The one spelling of a distribution's name.

    >>> canonical("Plugrad_Mish")
    'plugrad-mish'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def shown(kind: str, name: str) -> str:
    """How a user reaches `name`: by its facade, or by kind and name where no facade is.

    >>> shown("functions", "relu"), shown("backends", "cuda")
    ('core.functions.relu', "backends 'cuda'")
    """
    return f"{FACADES[kind]}.{name}" if kind in FACADES else f"{kind} {name!r}"


def brief(error: BaseException) -> str:
    """One line of an exception: its class and the first line of what it says."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


class Plugin:
    """One entry point: where it came from, its state, and what it gives.

    `state` is 'loaded', 'failed' (with `cause`) or 'disabled'; `problems` are names of a loaded
    plugin that turned out to be unusable.
    """

    __slots__ = (
        "cause",
        "claims",
        "distribution",
        "kernels",
        "name",
        "problems",
        "state",
        "value",
        "version",
    )

    def __init__(self, name: str, value: str, distribution: str, version: str) -> None:
        self.name = name
        self.value = value
        self.distribution = distribution
        self.version = version
        self.state = "found"
        self.cause: BaseException | None = None
        self.claims: list[Claim] = []
        self.kernels: Callable[[str], Mapping[str, Mapping[str, Any]]] | None = None
        self.problems: dict[str, BaseException] = {}

    @property
    def bundled(self) -> bool:
        """Whether it comes with plugrad itself."""
        return self.key == BUNDLED

    @property
    def key(self) -> str:
        """The distribution's name in its one spelling."""
        return canonical(self.distribution)

    @property
    def gives(self) -> dict[str, list[str]]:
        """Kind -> names, sorted."""
        found: dict[str, list[str]] = {}
        for claim in self.claims:
            found.setdefault(claim.kind, []).append(claim.name)
        return {kind: sorted(found[kind]) for kind in KINDS if kind in found}

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"

    def __repr__(self) -> str:
        return f"<Plugin {self.name!r} of {self}: {self.state}>"


_UNRESOLVED: Any = object()


class Claim:
    """A plugin's claim to a name of a kind, its object imported when first needed."""

    __slots__ = ("_fits", "_value", "kind", "name", "plugin", "target")

    def __init__(self, kind: str, name: str, value: Any, plugin: Plugin) -> None:
        self.kind = kind
        self.name = name
        self.plugin = plugin
        self.target = value if isinstance(value, str) else None
        self._value = _UNRESOLVED if isinstance(value, str) else value
        self._fits = False

    def resolve(self) -> Any:
        """The object behind the name, as its kind is to be.

        Raises `BrokenName`, with the cause, where it cannot be imported, or is something else.
        """
        if self._value is _UNRESOLVED:
            try:
                self._value = resolve(self.target or "")
            except (Exception, SystemExit) as error:
                what = shown(self.kind, self.name)
                self.plugin.problems[what] = error
                raise BrokenName(
                    f"{what} is registered by {self.plugin} as {self.target!r}, "
                    f"which cannot be imported: {brief(error)}"
                ) from error
        if not self._fits:
            wrong = misfit(self.kind, self._value)
            if wrong:
                raise self._misfitting(wrong)
            self._fits = True
        return self._value

    def _misfitting(self, wrong: str) -> BrokenName:
        what, plugin = shown(self.kind, self.name), self.plugin
        came = f" as {self.target!r}" if self.target else ""
        error = BrokenName(
            f"{what} is given by {plugin} (plugin {plugin.name!r}, hook register_{self.kind})"
            f"{came}: {wrong}."
        )
        plugin.problems[what] = error
        return error

    def same_as(self, other: Claim) -> bool:
        """Whether both name the same object."""
        return self.target == other.target if self.target else self._value is other._value

    def __repr__(self) -> str:
        return f"<Claim {shown(self.kind, self.name)} by {self.plugin}>"


def distributions(claims: Iterable[Claim]) -> list[str]:
    """The distributions behind `claims`, each once, in order."""
    return list(dict.fromkeys(claim.plugin.key for claim in claims))
