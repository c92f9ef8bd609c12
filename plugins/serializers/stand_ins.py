"""What a pickle names, kept as a name: nothing is imported, and nothing is called."""

from __future__ import annotations

from typing import Any

MOST = 1000
"""How many things a pickle may name; each of them becomes a class."""


class StandIn:
    """Something that a pickle names: what it was called with, and its state."""

    called = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> StandIn:
        """Keep what it is called with."""
        made = super().__new__(cls)
        made.args, made.state = args, {}
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args: tuple[Any, ...]
        self.state: dict[str, Any]

    def __call__(self, *args: Any) -> StandIn:
        """What a function that another has made would give: nothing but its name."""
        return self

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and state and isinstance(state[0], dict):
            state = state[0]  # beside what slots hold
        self.state = state if isinstance(state, dict) else {"": state}

    def append(self, value: Any) -> None:
        """What a list that is named would do."""

    def extend(self, values: Any) -> None:
        """Likewise."""

    def add(self, value: Any) -> None:
        """What a set that is named would do."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """What a dict that is named would do."""


class StandIns:
    """The stand-ins of one pickle, a class for each name.

    >>> named = StandIns()
    >>> named("os", "mkdir")("folder").called
    'os.mkdir'
    """

    def __init__(self) -> None:
        self._known: dict[str, type[StandIn]] = {}

    def __call__(self, module: str, name: str) -> type[StandIn]:
        """What stands for `name` in `module`; ValueError where there are too many."""
        called = f"{module}.{name}"
        if called not in self._known:
            if len(self._known) == MOST:
                raise ValueError(f"a pickle that names more than {MOST} things")
            last = name.rpartition(".")[2] or "_"
            self._known[called] = type(last, (StandIn,), {"called": called})
        return self._known[called]
