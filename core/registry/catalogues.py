"""What users look names up in: one catalogue a kind."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from core.errors import NameConflict, UnknownName, nearest
from core.errors.synonyms import GONE, TABLE, folded, ours
from core.registry.index import Registry
from core.registry.kinds import FACADES
from core.registry.records import Claim, canonical, distributions
from core.registry.wording import recall


class Catalogue:
    """The names of one kind, over every installed plugin.

    >>> from core import registry
    >>> catalogue = registry.catalogue("backends")
    >>> catalogue.get("numpy").__name__, "numpy" in catalogue
    ('NumpyBackend', True)
    """

    def __init__(self, registry: Registry, kind: str) -> None:
        self._registry = registry
        self.kind = kind

    def get(self, name: str) -> Any:
        """The object behind `name`, imported now if it has not been before.

        Raises UnknownName, with the nearest name and with the failed plugins that might have had
        it; NameConflict where third parties disagree; PluginError where the import fails.
        """
        return self.claim(name).resolve()

    def claim(self, name: str) -> Claim:
        """The claim that holds for `name`, nothing imported; raises as `get` does."""
        claims = self._registry.claims(self.kind, name)
        if not claims:
            raise UnknownName(partial(self.why_missing, name)) from self._recall()[1]
        return self._registry.choose(self.kind, name, claims)

    def names(self) -> list[str]:
        """Every name that has one meaning here, sorted."""
        return sorted(name for name in self._claimed() if self._decided(name))

    def conflicts(self) -> list[str]:
        """The names that several third parties claim and that nobody has decided, sorted."""
        return sorted(name for name in self._claimed() if not self._decided(name))

    def claims(self, name: str) -> list[Claim]:
        """Everybody's claim to `name`."""
        return list(self._registry.claims(self.kind, name))

    def of(self, distribution: str) -> Offer:
        """What one distribution gives, whoever else claims the same names."""
        key = canonical(distribution)
        found = {
            claim.name: claim
            for claims in self._claimed().values()
            for claim in claims
            if claim.plugin.key == key
        }
        if not found:
            raise UnknownName(self._nothing_of(distribution, key))
        return Offer(self.kind, key, found)

    def why_missing(self, name: str) -> str:
        """What the error about an unknown `name` says."""
        where = FACADES.get(self.kind) or f"The catalogue of {self.kind}"
        gone = GONE.get(self.kind, {}).get(name)
        if gone:
            return f"{where}.{name} no longer exists. {gone}"
        known: Iterable[str] = self._claimed()
        if self.kind == "functions" and name[:1].islower():  # no class of an operation is meant
            known = [each for each in known if each[:1].islower()]
        hint = nearest(name, known, self.kind, elsewhere(self._registry, self.kind))
        return f"{where} has no {name!r}.{hint}{self._recall()[0]}"

    def _claimed(self) -> dict[str, list[Claim]]:
        return self._registry.snapshot().claims[self.kind]

    def _decided(self, name: str) -> bool:
        try:
            self._registry.choose(self.kind, name, self._claimed()[name])
        except NameConflict:
            return False
        return True

    def _recall(self) -> tuple[str, BaseException | None]:
        snapshot = self._registry.snapshot()
        return recall(snapshot.plugins, snapshot.complete)

    def _nothing_of(self, distribution: str, key: str) -> str:
        claims = [claim for claims in self._claimed().values() for claim in claims]
        givers = sorted(distributions(claims))
        notes, _ = self._recall()
        return (
            f"No plugin of {distribution!r} gives {self.kind}; those that do: "
            f"{', '.join(givers) or 'none'}.{nearest(key, givers)}{notes}"
        )

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._claimed() and self._decided(name)

    def __repr__(self) -> str:
        return f"<Catalogue of {self.kind}: {len(self.names())} names>"


def elsewhere(registry: Registry, kind: str = "") -> dict[str, str]:
    """What is written for names of facades, ours and those of other libraries, but for one kind.

    Functions of NumPy's that take Variables are NumPy's, where no facade has the name.

    >>> from core.registry.environment import installed
    >>> elsewhere(installed)["cat"], elsewhere(installed, "functions").get("cat")
    ('core.functions.concat', None)
    >>> elsewhere(installed)["roll"]
    'numpy.roll'
    """
    found: dict[str, str] = {}
    for each in [each for each in FACADES if each != kind]:
        known = {folded(n): n for n in sorted(registry.snapshot().claims[each])}
        theirs = {folded(n): ours(n, each, known) for n in TABLE.get(each, ())}
        for word, target in (theirs | known).items():
            if target:
                own = f"{FACADES[each]}.{target}" if target.isidentifier() else target
                found.setdefault(word, own)
    for name in registry.snapshot().claims["namespace"]:
        found.setdefault(folded(name), f"numpy.{name}")
    return found


class Offer:
    """One distribution's names of a kind, as attributes."""

    def __init__(self, kind: str, distribution: str, claims: dict[str, Claim]) -> None:
        self._kind = kind
        self._distribution = distribution
        self._claims = claims

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._claims:
            raise UnknownName(
                f"{self._distribution} gives no {self._kind} {name!r}."
                + nearest(name, self._claims)
            )
        return self._claims[name].resolve()

    def __dir__(self) -> list[str]:
        return sorted(self._claims)

    def __repr__(self) -> str:
        return f"<{self._kind} of {self._distribution}: {', '.join(sorted(self._claims))}>"
