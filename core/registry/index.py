"""The registry: loads the environment's plugins once, at the first look-up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from core.errors import PluginError
from core.registry import loader, settings
from core.registry.choice import choose
from core.registry.records import KINDS, Claim, Plugin
from core.registry.settings import Settings
from core.registry.wording import failure, warn

Claims = dict[str, dict[str, list[Claim]]]


class Snapshot:
    """What is known at one moment; replaced as a whole, so that readers need no lock.

    Incomplete while plugins are being imported: then it holds the bundled ones alone, so that what
    a plugin can use while it is imported does not depend on which other one came first.
    """

    def __init__(self, decided: Settings, plugins: Sequence[Plugin] = (), complete: bool = False):
        self.decided = decided
        self.plugins = tuple(plugins)
        self.complete = complete
        self.claims: Claims = {kind: {} for kind in KINDS}
        for plugin in plugins:
            for claim in plugin.claims:
                self.claims[claim.kind].setdefault(claim.name, []).append(claim)


class Registry:
    """Plugins of an environment. One instance serves the process; tests make their own."""

    def __init__(
        self,
        entry_points: Callable[[], Iterable[loader.EntryPoint]] = loader.installed,
        read_settings: Callable[[], Settings] = settings.read,
    ) -> None:
        self._entry_points = entry_points
        self._read_settings = read_settings
        self._lock = threading.RLock()
        self._snapshot = Snapshot(Settings())
        self._loading = False
        self._warned: set[tuple[str, str]] = set()
        self._preferences: list[tuple[str, str]] = []
        self._disabled: list[str] = []
        self._listeners: list[Callable[[], None]] = []
        self.generation = 0

    def snapshot(self) -> Snapshot:
        """Everything, loaded on the first call; the bundled plugins alone during that load."""
        return self._snapshot if self._snapshot.complete else self._load()

    def plugins(self) -> list[Plugin]:
        """Every plugin found, in the order of distribution and name."""
        return list(self.snapshot().plugins)

    def claims(self, kind: str, name: str) -> list[Claim]:
        """Who claims a name.

        A bundled name that no preference concerns is answered without waiting for the rest: a
        plugin imported by one thread while another thread loads plugins must not wait for it.
        """
        early = self._snapshot
        found = early.claims[kind].get(name, [])
        if found and not early.complete and early.decided.preferred(kind, name) is None:
            return found
        return self.snapshot().claims[kind].get(name, [])

    def choose(self, kind: str, name: str, claims: Sequence[Claim]) -> Claim:
        """The claim that holds by the policy; `NameConflict` where none does."""
        return choose(kind, name, claims, self._snapshot.decided)

    def prefer(self, key: str, distribution: str) -> None:
        """Prefer a distribution for `KIND.NAME`, `KIND.*` or `*`, from now on in this process."""
        with self._lock:
            if self._snapshot.complete:
                self._snapshot.decided.prefer(key, distribution, "core.plugins.prefer")
            self._preferences.append((key, distribution))
        self._changed()

    def disable(self, distribution: str) -> None:
        """Leave a distribution out from now on in this process; '*' means every third party."""
        with self._lock:
            self._disabled.append(distribution)
            self._snapshot = Snapshot(Settings())
        self._changed()

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever a name may mean something else than before."""
        self._listeners.append(changed)

    def _changed(self) -> None:
        with self._lock:
            self.generation += 1
            listeners = list(self._listeners)
        for changed in listeners:
            changed()

    def _load(self) -> Snapshot:
        with self._lock:
            if self._snapshot.complete or self._loading:
                return self._snapshot
            self._loading = True
            try:
                plugins = self._load_all(self._decide())
            except BaseException:
                self._snapshot = Snapshot(Settings())
                raise
            finally:
                self._loading = False
        self._report(plugins)
        return self._snapshot

    def _decide(self) -> Settings:
        decided = self._read_settings()
        for key, distribution in self._preferences:
            decided.prefer(key, distribution, "core.plugins.prefer")
        for distribution in self._disabled:
            decided.disable(distribution, "core.plugins.disable")
        return decided

    def _load_all(self, decided: Settings) -> list[Plugin]:
        found = loader.find(self._entry_points())
        plugins = [plugin for plugin, _ in found]
        loaded: dict[int, Plugin] = {}
        for bundled in (True, False):
            stage = [pair for pair in found if pair[0].bundled is bundled]
            for plugin, entry in stage:
                self._load_one(plugin, entry, decided, loaded)
            self._snapshot = Snapshot(
                decided, plugins if not bundled else [p for p, _ in stage], complete=not bundled
            )
        return plugins

    def _load_one(
        self, plugin: Plugin, entry: loader.EntryPoint, decided: Settings, loaded: dict[int, Plugin]
    ) -> None:
        if decided.disables(plugin.distribution, plugin.bundled):
            plugin.state = "disabled"
            return
        try:
            subject = loader.load(plugin, entry, loaded)
            _refuse_repeated(plugin, loaded.values())
        except (Exception, SystemExit) as error:
            loader.refuse_shadow(plugin, error)
            plugin.state, plugin.cause = "failed", error
            plugin.claims, plugin.kernels = [], None
            if decided.strict:
                raise PluginError(failure(plugin)) from error
            return
        plugin.state = "loaded"
        # Held by the plugin it came from, hence alive: an id is not given out twice.
        loaded.setdefault(id(subject), plugin)

    def _report(self, plugins: Iterable[Plugin]) -> None:
        for plugin in plugins:
            key = (plugin.key, plugin.name)
            if plugin.state == "failed" and key not in self._warned:
                self._warned.add(key)
                warn(failure(plugin))


def _refuse_repeated(plugin: Plugin, loaded: Iterable[Plugin]) -> None:
    ours = {
        (claim.kind, claim.name): claim
        for other in loaded
        if other.key == plugin.key
        for claim in other.claims
    }
    for claim in plugin.claims:
        other = ours.get((claim.kind, claim.name))
        if other is not None and not claim.same_as(other):
            raise PluginError(
                f"gives {claim.kind} {claim.name!r}, which plugin {other.plugin.name!r} of the "
                f"same distribution gives already, as something else."
            )
