"""Configuration: shared settings, which each thread may override.

The settings of a context are one immutable `State`, kept in a `ContextVar`, with the few flags that
every operation reads worked out beforehand. Changing a setting installs another state. A new thread
starts from the shared values; generators and coroutines follow the rules of `contextvars`: a
`using_config` around a `yield` stays active for the caller until the generator goes on, so keep
`with using_config(...)` blocks free of `yield`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar, cast
from weakref import ref

from core.errors import UnknownName, nearest
from core.registry.entry_kinds import Entries, at_first, check
from core.registry.once import publishing
from core.registry.public import listing

__dir__ = listing(__name__)

P = ParamSpec("P")
R = TypeVar("R")

_shared = at_first()
_OF_THE_FRAMEWORK = frozenset(_shared)
_OWN = "user_"  # begins names that are nobody's slip, as in Chainer


class State:
    """The settings of one context; never changed once made, save when a shared value changes."""

    __slots__ = (
        "__weakref__",
        "backprop",
        "check",
        "debug",
        "derived",
        "hooks",
        "link_hooks",
        "observes_links",
        "own",
        "merged",
        "slow_path",
    )

    def __init__(
        self, own: Mapping[str, Any], hooks: Mapping[str, Any], link_hooks: Mapping[str, Any]
    ) -> None:
        self.own = own
        self.hooks = hooks
        self.link_hooks = link_hooks
        self.derived: dict[tuple[str, Any], State] = {}
        with publishing:  # no shared value changes between
            self.refresh()
            _states[ref(self, _forget)] = None

    def get(self, name: str) -> Any:
        """The current value in this context."""
        return self.own[name] if name in self.own else _shared[name]

    def refresh(self) -> None:
        """Work out what operations and links read, of hooks and debug mode in one flag each."""
        self.backprop = bool(self.get("enable_backprop"))
        self.debug = bool(self.get("debug"))
        self.check = bool(self.get("type_check"))
        self.slow_path = bool(self.hooks) or self.debug
        self.observes_links = bool(self.link_hooks) or self.debug
        self.merged: dict[str, Any] | None = None

    def settings(self) -> dict[str, Any]:
        """All entries with the values that apply here."""
        found = self.merged
        if found is None:
            found = self.merged = {**_shared, **self.own}
        return found


_states: dict[ref[State], None] = {}  # all that are alive


def _forget(state: ref[State]) -> None:
    _states.pop(state, None)


_state: ContextVar[State] = ContextVar("core.state", default=State({}, {}, {}))  # noqa: B039
current_state = _state.get


def install_hooks(kind: str, hooks: Mapping[str, Any]) -> None:
    """Make `hooks` those of this context, of the kind "hooks" (of functions) or "link_hooks"."""
    state = current_state()
    installed = {"hooks": state.hooks, "link_hooks": state.link_hooks, kind: hooks}
    _state.set(State(state.own, **installed))


def _accept(name: str, value: Any) -> None:
    """Refuse a name that is a slip of a known one, and a value that the entry cannot be."""
    if name not in _shared and not name.startswith(_OWN):
        hint = nearest(name, _shared, "config")
        if hint:
            raise UnknownName(
                f"config has no entry {name!r}.{hint} One of your own may begin with {_OWN!r}."
            )
    check(name, value)


def _unknown(name: str, known: Mapping[str, Any]) -> UnknownName:
    return UnknownName(f"config has no entry {name!r}.{nearest(name, known, 'config')}")


class GlobalConfig:
    """Values that all threads share, unless a thread has set its own.

    Those of `core.global_config` are what the framework reads: your own entries may be added
    to them by setting it; a name near a known one is taken for a slip, unless it begins with
    `user_`. Another object has other entries, at first none.

    >>> import core
    >>> core.global_config.train
    True
    """

    _entries: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_entries", {})

    def __getattr__(self, name: str) -> Any:
        entries = self.__dict__.get("_entries", {})
        if name in entries:
            return entries[name]
        raise _unknown(name, entries)

    def __setattr__(self, name: str, value: Any) -> None:
        self._entries[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self._entries:
            raise _unknown(name, self._entries)
        del self._entries[name]

    def __repr__(self) -> str:  # one line, as for the defaults of signatures
        return f"<GlobalConfig of {len(self._entries)} entries; print() shows them>"

    def __str__(self) -> str:
        return "\n".join(_lines(self._entries))

    def show(self, file: TextIO | None = None) -> None:
        """Print every shared entry with its value."""
        _show(self._entries, file)


class LocalConfig:
    """The values of this thread: its own if it has set them, otherwise those of `global_config`.

    >>> import core
    >>> with core.using_config("train", False):
    ...     core.config.train
    False
    >>> core.config.trian
    Traceback (most recent call last):
    ...
    core.errors.UnknownName: config has no entry 'trian'. Did you mean 'train'?
    """

    _global: GlobalConfig
    _context: ContextVar[Mapping[str, Any]]

    def __init__(self, global_config: GlobalConfig) -> None:
        object.__setattr__(self, "_global", global_config)
        object.__setattr__(self, "_context", ContextVar("core.LocalConfig", default={}))  # noqa: B039

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # as copying asks, before there is anything
            raise _unknown(name, {})
        own, shared = self._own(), self._global._entries
        if name in own:
            return own[name]
        if name in shared:
            return shared[name]
        raise _unknown(name, {**shared, **own})

    def __setattr__(self, name: str, value: Any) -> None:
        self._install({**self._own(), name: value})

    def __delattr__(self, name: str) -> None:
        own = self._own()
        if name not in own:
            raise UnknownName(f"this thread has set no config entry {name!r}")
        self._install({key: value for key, value in own.items() if key != name})

    def _own(self) -> Mapping[str, Any]:
        """What this context has set itself."""
        return self._context.get()

    def _install(self, own: Mapping[str, Any]) -> None:
        self._context.set(own)

    def __repr__(self) -> str:
        return f"<LocalConfig of {len(self._settings())} entries; print() shows them>"

    def __str__(self) -> str:
        return "\n".join(_lines(self._settings()))

    def _settings(self) -> dict[str, Any]:
        return {**self._global._entries, **self._own()}

    def show(self, file: TextIO | None = None) -> None:
        """Print every entry with the value that applies here."""
        _show(self._settings(), file)


class _Shared(GlobalConfig):
    """The shared values that operations read."""

    def __init__(self) -> None:
        object.__setattr__(self, "_entries", _shared)

    def __setattr__(self, name: str, value: Any) -> None:
        _accept(name, value)
        with publishing:
            super().__setattr__(name, value)
            for found in list(_states):
                state = found()
                if state is not None:
                    state.refresh()

    def __delattr__(self, name: str) -> None:
        if name in _OF_THE_FRAMEWORK:
            raise UnknownName(f"config.{name} is what operations read, and cannot be deleted.")
        super().__delattr__(name)


class _Config(LocalConfig):
    """The values that operations read in this context, which a `State` keeps."""

    def __getattr__(self, name: str) -> Any:
        own = current_state().own
        if name in own:
            return own[name]
        if name in _shared:
            return _shared[name]
        raise _unknown(name, {**_shared, **own})

    def __setattr__(self, name: str, value: Any) -> None:
        _accept(name, value)
        super().__setattr__(name, value)

    def _own(self) -> Mapping[str, Any]:
        return current_state().own

    def _install(self, own: Mapping[str, Any]) -> None:
        state = current_state()
        _state.set(State(own, state.hooks, state.link_hooks))


def take_over(own: Mapping[str, Any]) -> None:
    """Have in this thread what another one has set itself, the `own` of its state."""
    state = current_state()
    if state.own is not own:
        _state.set(State(own, state.hooks, state.link_hooks))


def _lines(entries: Mapping[str, Any]) -> list[str]:
    width = max(map(len, entries), default=0)
    return [f"{name:<{width}} {entries[name]!r}" for name in sorted(entries)]


def _show(entries: Mapping[str, Any], file: TextIO | None) -> None:
    for line in _lines(entries):
        print(line, file=file or sys.stdout)


if TYPE_CHECKING:

    class Configuration(Entries):
        """What checkers know `config` by: the declared entries, with their types, and no others.

        an entry that you add is set by `using_config`, or by `setattr`.
        """

        def show(self, file: TextIO | None = None) -> None:
            """Print every entry with its value."""


_shared_values = _Shared()
global_config = cast("Configuration", _shared_values)
config = cast("Configuration", _Config(_shared_values))


class using_config:
    """Set one entry within a `with` block, or within each call of a decorated function.

    `config` is `core.config` (this thread), `core.global_config` (everybody), or another object of
    their classes. One object may be entered again, inside its own block and by several threads.

    >>> import core, core.functions as F, numpy as np
    >>> with core.using_config("train", False):  # dropout lets everything through
    ...     F.dropout(np.ones(3, "f"), 0.9)
    variable([1., 1., 1.], dtype=float32)
    """

    __slots__ = ("_blocks", "_config", "_name", "_value")

    def __init__(
        self, name: str, value: Any, config: Configuration | LocalConfig | GlobalConfig = config
    ) -> None:
        self._name = name
        self._value = value
        self._config = config
        # Of each open block its thread, the state in it, and what was before.
        self._blocks: list[tuple[int, State, Any]] = []

    def __enter__(self) -> None:
        if self._config is not config:
            old = _set_by(self._config).get(self._name, _MISSING)
            setattr(self._config, self._name, self._value)
            self._blocks.append((get_ident(), current_state(), old))
            return
        state = current_state()
        entered = _derive(state, self._name, self._value)
        _state.set(entered)
        self._blocks.append((get_ident(), entered, state))

    def __exit__(self, *exc: object) -> None:
        name, state = self._name, current_state()
        blocks, here = list(self._blocks), get_ident()
        mine = [block for block in blocks if block[0] == here] or blocks
        block = ([block for block in mine if block[1] is state] or mine)[-1]
        self._blocks.remove(block)
        _, entered, old = block
        if self._config is not config:
            if old is _MISSING:
                delattr(self._config, name)
            else:
                setattr(self._config, name, old)
        elif state is entered:
            _state.set(old)
        elif name in old.own:  # others were set inside: undo only ours
            setattr(config, name, old.own[name])
        else:
            delattr(config, name)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function, each call of which then has the entry set."""

        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with using_config(self._name, self._value, self._config):
                return function(*args, **kwargs)

        return inside


_MISSING = object()


def _set_by(config: Any) -> Mapping[str, Any]:
    own: Mapping[str, Any]
    own = config._entries if isinstance(config, GlobalConfig) else config._own()
    return own


_REMEMBERED = 64


def _derive(state: State, name: str, value: Any) -> State:
    """The state that differs by one entry; `state` remembers the few it is asked for."""
    try:
        known = state.derived[name, value]
    except KeyError:
        known = None
    except TypeError:  # an unhashable value is simply not remembered
        _accept(name, value)
        return State({**state.own, name: value}, state.hooks, state.link_hooks)
    if known is None or known.own[name] is not value:
        _accept(name, value)
        if len(state.derived) >= _REMEMBERED:
            state.derived.clear()
        known = State({**state.own, name: value}, state.hooks, state.link_hooks)
        state.derived[name, value] = known
    return known


def no_backprop_mode() -> using_config:
    """Record no graph in the block: the results of operations need no gradient.

    >>> import core, numpy as np
    >>> x = core.Variable(np.ones(2, "f"))
    >>> with core.no_backprop_mode():
    ...     y = x * 2
    >>> y.creator is None
    True
    """
    return using_config("enable_backprop", False)


def force_backprop_mode() -> using_config:
    """Record the graph in the block, also inside `no_backprop_mode`."""
    return using_config("enable_backprop", True)


def set_debug(debug: bool) -> None:
    """Switch this thread's debug mode, which locates NaNs and changed arrays.

    >>> import core
    >>> core.set_debug(True)
    >>> core.is_debug()
    True
    >>> del core.config.debug  # what is shared by all threads holds again
    """
    config.debug = debug


def is_debug() -> bool:
    """Whether this thread is in debug mode."""
    return current_state().debug


class DebugMode(using_config):
    """Switch debug mode within a `with` block."""

    def __init__(self, debug: bool) -> None:
        super().__init__("debug", debug)
