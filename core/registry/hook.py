"""What function hooks and link hooks share: a `with` block, and names that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from core.errors import DeclarationError, HookError, nearest
from core.errors.set_by_init import NeedsInit
from core.registry.configuration import current_state, install_hooks

_NEAR = 0.8  # how alike two names are, at least, for one to be taken for a slip of the other


class Hook(NeedsInit):
    """Base of both kinds. A method whose name is nearly that of a hook method is refused when the
    class is created, since nobody would ever call it.
    """

    name: str
    _installed_as: ClassVar[str]  # which of the hooks of a State they are

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name, member in cls.__dict__.items():
            known = name.startswith("_") or any(hasattr(base, name) for base in cls.__bases__)
            if callable(member) and not known:
                _refuse_slip(cls, name)
        super().__init_subclass__(**kwargs)  # which warns of slips of other names

    def __enter__(self) -> Self:
        hooks = getattr(current_state(), self._installed_as)
        if self.name in hooks:
            raise HookError(
                f"with {type(self).__name__}: expected no other hook named {self.name!r} here, got "
                f"a {type(hooks[self.name]).__name__} of that name. Leave its block first, or set "
                "another `name` on the hook."
            )
        self.added(None)
        install_hooks(
            self._installed_as, {**getattr(current_state(), self._installed_as), self.name: self}
        )
        return self

    def __exit__(self, *_: object) -> None:
        hooks = getattr(current_state(), self._installed_as)
        others = {name: hook for name, hook in hooks.items() if hook is not self}
        install_hooks(self._installed_as, others)
        self.deleted(None)

    def added(self, owner: Any, /) -> None:
        """Called when the hook is registered: with its owner, or None in a `with` block."""

    def deleted(self, owner: Any, /) -> None:
        """Called when the hook is removed: from its owner, or with None after a block."""


def _refuse_slip(cls: type[Hook], name: str) -> None:
    root = next(base for base in reversed(cls.__mro__) if issubclass(base, Hook) and base != Hook)
    called = [each for each in (*vars(Hook), *vars(root)) if each[0] != "_" and each != "name"]
    if cls is root:
        return
    import difflib

    near = difflib.get_close_matches(name, called, n=1, cutoff=_NEAR)
    if near:
        raise DeclarationError(
            f"{cls.__name__}: expected the methods of a {root.__name__} ({', '.join(called)}), got "
            f"{name!r}. Did you mean {near[0]!r}? A helper's name may start with an underscore."
        )


def with_hook(
    owner: str, hooks: Mapping[str, Any], hook: Any, name: str | None, base: type[Hook]
) -> dict[str, Any]:
    """The hooks of an owner and one more, of a kind and under a name of its own."""
    if not isinstance(hook, base):
        raise TypeError(f"{owner}.add_hook: expected a {base.__name__}, got {type(hook).__name__}.")
    name = name or hook.name
    if name in hooks:
        raise HookError(
            f"{owner}.add_hook: a hook named {name!r} is here already. Delete it first, or give "
            "this one another name."
        )
    return {**hooks, name: hook}


def without_hook(owner: str, hooks: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The hooks of an owner but for the one called `name`."""
    if name not in hooks:
        raise HookError(f"{owner}.delete_hook: no hook is called {name!r}.{nearest(name, hooks)}")
    return {other: hook for other, hook in hooks.items() if other != name}
