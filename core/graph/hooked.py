"""What hooks and debug mode do around a function's forward; the walk does the same around backward.

Only the slow path of a call comes here: see `core.ops.specialize`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.registry.configuration import State
from core.registry.hook import with_hook, without_hook

if TYPE_CHECKING:
    from core.graph.function_hook import FunctionHook
    from core.graph.variable import Variable


class Hooked:
    """What a function node calls before, after and between its steps."""

    __slots__ = ()

    # What an instance may have in its dict.
    stack: Any = None
    _local_hooks: dict[str, FunctionHook] | None = None
    _place: Any = None
    _versions: Any = ()

    @property
    def local_function_hooks(self: Any) -> dict[str, FunctionHook]:
        """The hooks of this node alone, by name."""
        if self._local_hooks is None:
            self._local_hooks = {}
        return self._local_hooks  # type: ignore[no-any-return]

    def add_hook(self: Any, hook: FunctionHook, name: str | None = None) -> None:
        """Call `hook` before and after this node's forward and backward."""
        from core.graph.function_hook import FunctionHook

        hooks = self.local_function_hooks  # shared with an old-style Function
        hooks.update(with_hook(self.label, hooks, hook, name, FunctionHook))
        self._rules = (False, *self._rules[1:])
        hook.added(self)

    def delete_hook(self: Any, name: str) -> None:
        """Remove a hook of this node."""
        without_hook(self.label, self.local_function_hooks, name)
        self.local_function_hooks.pop(name).deleted(self)

    def _hooks(self, state: State) -> list[FunctionHook]:
        if not state.hooks and not self._local_hooks:
            return []
        return list({**state.hooks, **(self._local_hooks or {})}.values())

    def _before_forward(self: Any, state: State, arrays: tuple[Any, ...]) -> None:
        if state.debug:
            from core.graph.debug import remember_call

            remember_call(self)
        for hook in self._hooks(state):
            hook.forward_preprocess(self, arrays)

    def _after_forward(
        self: Any, state: State, arrays: tuple[Any, ...], outputs: tuple[Variable, ...]
    ) -> None:
        for hook in self._hooks(state):
            hook._computed(self, arrays, outputs)
        if state.debug:
            from core.graph.debug import refuse_nan

            refuse_nan(self, [y.array for y in outputs], "forward")

    def _after_recording(self: Any, state: State) -> None:
        if state.debug and self._sources is not None:
            from core.graph.debug import versions

            self._versions = versions(self)
