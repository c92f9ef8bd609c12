"""The hooks of an optimizer or an update rule: what is called before and after a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from core.errors import HookError, nearest
from core.errors.arguments import refuse_idle
from core.optimizer.hyperparameter import Quantity

Hook = Callable[..., Any]
TIMINGS = ("pre", "post", "auto")


class HookTable:
    """Hooks by name, each to be called before (`pre`) or after (`post`) the step.

    Args:
        owner: What messages call the object that has them.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._hooks: dict[str, tuple[Hook, str]] = {}
        self.pre: tuple[Hook, ...] = ()  # in the order they were added
        self.post: tuple[Hook, ...] = ()

    def add(self, hook: Hook, name: str | None, timing: str) -> None:
        """Add a hook; `auto` takes the timing that the hook states, or `pre`."""
        if isinstance(hook, type):
            raise TypeError(
                f"{self._owner}.add_hook: expected a hook, got the class {hook.__name__}. Make one "
                f"of it: {hook.__name__}(...)."
            )
        refuse_idle(f"{self._owner}.add_hook", hook)
        stated = getattr(hook, "timing", "pre")
        for when in (timing, stated):
            if when not in TIMINGS:
                raise ValueError(
                    f"{self._owner}.add_hook: expected a timing of {', '.join(TIMINGS)}, "
                    f"got {when!r}.{nearest(str(when), TIMINGS)}"
                )
        name = name or getattr(hook, "name", None) or getattr(hook, "__name__", None)
        if name is None:
            raise HookError(f"{self._owner}.add_hook: {hook!r} has no name. Give it one: name=...")
        if name in self._hooks:
            raise HookError(
                f"{self._owner}.add_hook: a hook named {name!r} is here already. "
                "Remove it first, or give this one another name."
            )
        when = stated if timing == "auto" else timing
        self._hooks[name] = (hook, "pre" if when == "auto" else when)
        self._sort()

    def remove(self, name: str) -> Any:
        """Remove the hook called `name`, and return it."""
        if name not in self._hooks:
            raise HookError(
                f"{self._owner}.remove_hook: no hook is called {name!r}; there are "
                f"{', '.join(self._hooks) or 'none'}.{nearest(str(name), self._hooks)}"
            )
        hook, _ = self._hooks.pop(name)
        self._sort()
        return hook

    def _sort(self) -> None:
        self.pre = tuple([hook for hook, when in self._hooks.values() if when == "pre"])
        self.post = tuple([hook for hook, when in self._hooks.values() if when == "post"])

    def at(self, timing: str) -> tuple[Hook, ...]:
        """The hooks of one timing, in the order they were added."""
        return {"pre": self.pre, "post": self.post}.get(timing, ())

    def stateful(self) -> Iterator[tuple[str, Any]]:
        """Name and hook of those that have something to save."""
        for name, (hook, _) in self._hooks.items():
            if hasattr(hook, "serialize"):
                yield name, hook

    def settings(self) -> dict[str, dict[str, float]]:
        """Name -> the numbers of each hook, as far as its class says what they may be."""
        return {name: _numbers(hook) for name, (hook, _) in self._hooks.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._hooks)

    def __len__(self) -> int:
        return len(self._hooks)


def _numbers(hook: Hook) -> dict[str, float]:
    known = {key for kind in type(hook).__mro__ for key, x in vars(kind).items() if _is_number(x)}
    return {key: x for key, x in sorted(getattr(hook, "__dict__", {}).items()) if key in known}


def _is_number(attribute: Any) -> bool:
    return isinstance(attribute, Quantity)
