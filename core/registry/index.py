"""The registry: loads the environment's plugins once, at the first look-up."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence

from core.errors import PluginError
from core.registry import declared, loader, settings
from core.registry.choice import choose
from core.registry.kinds import KINDS
from core.registry.records import Claim, Plugin
from core.registry.settings import Settings
from core.registry.wording import failure, warn

Claims = dict[str, dict[str, list[Claim]]]
_PATIENCE = 10.0  # seconds


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
    """Plugins of an environment. One instance serves the process; tests make their own.

    The thread that comes first loads them, and no lock is held meanwhile. Others wait until what
    they ask for is known. One that is importing a module might be waited for in turn, by the loader
    that wants this module: after a while it has to do with what is known, as a plugin has that is
    being loaded.
    """

    def __init__(
        self,
        entry_points: Callable[[], Iterable[loader.EntryPoint]] = declared.installed,
        read_settings: Callable[[], Settings] = settings.read,
    ) -> None:
        self._entry_points = entry_points
        self._read_settings = read_settings
        self._lock = threading.Condition()
        self._snapshot = Snapshot(Settings())
        self._loader: int | None = None  # the thread that loads
        self._decisions = 0  # of other threads than that
        self._warned: set[tuple[str, str]] = set()
        self._preferences: list[tuple[str, str]] = []
        self._disabled: list[str] = []
        self._listeners: list[Callable[[], None]] = []
        self.generation = 0

    def snapshot(self) -> Snapshot:
        """Everything, loaded on the first call; the bundled plugins alone during that load."""
        known = self._snapshot
        return known if known.complete else self._load(lambda snapshot: snapshot.complete)

    def plugins(self) -> list[Plugin]:
        """Every plugin found, in the order of distribution and name."""
        return list(self.snapshot().plugins)

    def claims(self, kind: str, name: str) -> list[Claim]:
        """Who claims a name.

        A bundled name that no preference concerns is answered without waiting for the rest: a
        plugin imported by one thread while another thread loads plugins must not wait for it.
        """

        def suffices(known: Snapshot) -> bool:
            bundled = name in known.claims[kind] and known.decided.preferred(kind, name) is None
            return known.complete or bundled

        known = self._snapshot
        if not suffices(known):
            known = self._load(suffices)
        return known.claims[kind].get(name, [])

    def choose(self, kind: str, name: str, claims: Sequence[Claim]) -> Claim:
        """The claim that holds by the policy; `NameConflict` where none does."""
        return choose(kind, name, claims, self._snapshot.decided)

    def prefer(self, key: str, distribution: str) -> None:
        """Prefer a distribution for `KIND.NAME`, `KIND.*` or `*`, from now on in this process."""
        with self._lock:
            if self._snapshot.complete:
                self._snapshot.decided.prefer(key, distribution, "core.plugins.prefer")
            self._preferences.append((key, distribution))
            self._decisions += self._loader != threading.get_ident()
        self._changed()

    def disable(self, distribution: str) -> None:
        """Leave a distribution out from now on in this process; '*' means every third party."""
        with self._lock:
            self._disabled.append(distribution)
            self._decisions += self._loader != threading.get_ident()
            self._snapshot = Snapshot(Settings())
        self._changed()

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever a name may mean something else than before."""
        self._listeners.append(changed)

    def keep(self, generation: int, store: Callable[[], None]) -> None:
        """Call `store`, unless names have changed their meaning since `generation` was read."""
        with self._lock:
            if generation == self.generation:
                store()

    def _changed(self) -> None:
        with self._lock:
            self.generation += 1
            listeners = list(self._listeners)
        for changed in listeners:
            changed()

    def _load(self, suffices: Callable[[Snapshot], bool]) -> Snapshot:
        me = threading.get_ident()
        with self._lock:
            while not suffices(self._snapshot) and self._loader not in (None, me):
                if not self._lock.wait(_PATIENCE if _importing() else None):
                    return self._snapshot
            if suffices(self._snapshot) or self._loader == me:
                return self._snapshot
            self._loader = me
        try:
            plugins = None
            while plugins is None:
                plugins = self._load_all()
        except BaseException:
            self._snapshot = Snapshot(Settings())
            raise
        finally:
            with self._lock:
                self._loader = None
                self._lock.notify_all()
        self._report(plugins)
        return self._snapshot

    def _decide(self) -> Settings:
        decided = self._read_settings()
        for key, distribution in self._preferences:
            decided.prefer(key, distribution, "core.plugins.prefer")
        for distribution in self._disabled:
            decided.disable(distribution, "core.plugins.disable")
        return decided

    def _load_all(self) -> list[Plugin] | None:
        """Load and publish; None where another thread has decided something meanwhile."""
        with self._lock:
            decisions, decided = self._decisions, self._decide()
        found = loader.find(self._entry_points())
        plugins = [plugin for plugin, _ in found]
        loaded: dict[int, Plugin] = {}
        for bundled in (True, False):
            stage = [pair for pair in found if pair[0].bundled is bundled]
            for plugin, entry in stage:
                self._load_one(plugin, entry, decided, loaded)
            known = Snapshot(
                decided, plugins if not bundled else [p for p, _ in stage], complete=not bundled
            )
            with self._lock:
                if self._decisions != decisions:
                    return None
                self._snapshot = known
                self._lock.notify_all()
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
            str(error)  # made when it is read, it may tell of failed plugins: this is none yet
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


def _importing() -> bool:
    """Whether this thread is in the middle of an import."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


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
