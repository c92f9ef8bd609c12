"""Configuration: what a thread may set for itself over what everybody shares.

The settings of a context are one immutable `State`, kept in a `ContextVar`, with the few flags that
every operation reads worked out beforehand. Changing a setting installs another state. A new thread
starts from the shared values; generators and coroutines follow the rules of `contextvars`: a
`using_config` around a `yield` stays in force for the caller until the generator goes on, so keep
`with using_config(...)` blocks free of `yield`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar
from weakref import WeakSet

from core.entry_kinds import check, from_environment
from core.errors import UnknownName, nearest

if TYPE_CHECKING:
    from core.function_hook import FunctionHook

P = ParamSpec("P")
R = TypeVar("R")

_shared: dict[str, Any] = {
    "train": True,
    "enable_backprop": True,
    "debug": from_environment("debug", False),
    "type_check": from_environment("type_check", True),
    "keep_graph_on_report": from_environment("keep_graph_on_report", False),
    "dtype": from_environment("dtype", "float32"),
    "use_cudnn": from_environment("use_cudnn", "auto"),
    "use_cudnn_tensor_core": "auto",
    "cudnn_deterministic": False,
    "autotune": False,
    "warn_nondeterministic": False,
    "in_recomputing": False,
}


class State:
    """The settings of one context; never changed once made, save when a shared value changes."""

    __slots__ = ("__weakref__", "backprop", "check", "debug", "derived", "hooks", "own", "slow")

    def __init__(self, own: Mapping[str, Any], hooks: Mapping[str, FunctionHook]) -> None:
        self.own = own
        self.hooks = hooks
        self.derived: dict[tuple[str, Any], State] = {}
        self.refresh()
        _states.add(self)

    def get(self, name: str) -> Any:
        """The value in force in this context."""
        return self.own[name] if name in self.own else _shared[name]

    def refresh(self) -> None:
        """Work out what operations read: `slow` asks for the complete, unhurried path."""
        self.backprop = bool(self.get("enable_backprop"))
        self.debug = bool(self.get("debug"))
        self.check = bool(self.get("type_check"))
        self.slow = bool(self.hooks) or self.debug


_states: WeakSet[State] = WeakSet()
_state: ContextVar[State] = ContextVar("core.state", default=State({}, {}))  # noqa: B039
current = _state.get


def install_hooks(hooks: Mapping[str, FunctionHook]) -> None:
    """Make `hooks` the function hooks of this context."""
    _state.set(State(current().own, hooks))


def _accept(name: str, value: Any) -> None:
    """Refuse a name that is a slip of a known one, and a value that the entry cannot be."""
    if name not in _shared:
        hint = nearest(name, _shared, "config")
        if hint:
            raise UnknownName(f"config has no entry {name!r}.{hint}")
    check(name, value)


def _unknown(name: str, known: Mapping[str, Any]) -> UnknownName:
    return UnknownName(f"config has no entry {name!r}.{nearest(name, known, 'config')}")


class GlobalConfig:
    """The values that every thread shares unless it has set its own.

    An entry of one's own may be added by setting it; a name near a known one is taken for a slip.

    >>> import core
    >>> core.global_config.train
    True
    """

    def __getattr__(self, name: str) -> Any:
        if name in _shared:
            return _shared[name]
        raise _unknown(name, _shared)

    def __setattr__(self, name: str, value: Any) -> None:
        _accept(name, value)
        _shared[name] = value
        for state in list(_states):
            state.refresh()

    def show(self, file: TextIO | None = None) -> None:
        """Print every shared entry with its value."""
        _show(_shared, file)


class LocalConfig:
    """The values of this thread: its own where it has set them, else the shared ones.

    >>> import core
    >>> with core.using_config("train", False):
    ...     core.config.train
    False
    >>> core.config.trian
    Traceback (most recent call last):
    ...
    core.errors.UnknownName: config has no entry 'trian'. Did you mean 'train'?
    """

    def __getattr__(self, name: str) -> Any:
        state = current()
        if name in state.own:
            return state.own[name]
        if name in _shared:
            return _shared[name]
        raise _unknown(name, {**_shared, **state.own})

    def __setattr__(self, name: str, value: Any) -> None:
        _accept(name, value)
        state = current()
        _state.set(State({**state.own, name: value}, state.hooks))

    def __delattr__(self, name: str) -> None:
        state = current()
        if name not in state.own:
            raise UnknownName(f"this thread has set no config entry {name!r}")
        rest = {key: value for key, value in state.own.items() if key != name}
        _state.set(State(rest, state.hooks))

    def show(self, file: TextIO | None = None) -> None:
        """Print every entry with the value that is in force here."""
        _show({**_shared, **current().own}, file)


def _show(entries: Mapping[str, Any], file: TextIO | None) -> None:
    width = max(map(len, entries))
    for name in sorted(entries):
        print(f"{name:<{width}} {entries[name]!r}", file=file or sys.stdout)


global_config = GlobalConfig()
config = LocalConfig()


class using_config:
    """Set one entry for the length of a `with` block, or of each call of a decorated function.

    `config` is `core.config` (this thread) or `core.global_config` (everybody). One object may be
    entered again, inside its own block and by several threads.
    """

    __slots__ = ("_blocks", "_config", "_name", "_value")

    def __init__(self, name: str, value: Any, config: LocalConfig | GlobalConfig = config) -> None:
        self._name = name
        self._value = value
        self._config = config
        self._blocks: list[tuple[State, Any]] = []  # the state in each, and what was before

    def __enter__(self) -> None:
        if self._config is not config:
            old = _shared.get(self._name, _MISSING)
            setattr(self._config, self._name, self._value)
            self._blocks.append((current(), old))
            return
        state = current()
        entered = _derive(state, self._name, self._value)
        _state.set(entered)
        self._blocks.append((entered, state))

    def __exit__(self, *exc: object) -> None:
        name, state = self._name, current()
        mine = [i for i, (entered, _) in enumerate(self._blocks) if entered is state]
        entered, old = self._blocks.pop(mine[-1] if mine else -1)
        if self._config is not config:
            if old is _MISSING:
                del _shared[name]
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
_REMEMBERED = 64


def _derive(state: State, name: str, value: Any) -> State:
    """The state that differs by one entry; `state` remembers the few it is asked for."""
    try:
        known = state.derived.get((name, value))
    except TypeError:  # an unhashable value is simply not remembered
        _accept(name, value)
        return State({**state.own, name: value}, state.hooks)
    if known is None or known.own[name] is not value:
        _accept(name, value)
        if len(state.derived) >= _REMEMBERED:
            state.derived.clear()
        known = state.derived[name, value] = State({**state.own, name: value}, state.hooks)
    return known


def no_backprop_mode() -> using_config:
    """Record no graph in the block: operations give Variables that want no gradient.

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
    """Switch this thread's debug mode: NaN and changed arrays are named where they appear."""
    config.debug = debug


def is_debug() -> bool:
    """Whether this thread is in debug mode."""
    return current().debug


class DebugMode(using_config):
    """Switch debug mode for the length of a `with` block."""

    def __init__(self, debug: bool) -> None:
        super().__init__("debug", debug)
