"""Hooks that are called around every function: before and after forward, before and after backward.

A hook given to `with` sees all functions that its thread calls in the block; one given to
`function.add_hook` sees that function alone.
"""

from __future__ import annotations

from typing import Any

from core.registry.configuration import current_state
from core.registry.hook import Hook
from core.typing import AnyArray


class FunctionHook(Hook):
    """Base of function hooks; a subclass overrides the methods that it needs.

    `name` tells hooks apart: of one name there is one at a time. A method whose name is nearly that
    of a hook method is refused when the class is created, since nobody would ever call it.

    >>> import core, numpy as np
    >>> class Labels(core.FunctionHook):
    ...     name = "Labels"
    ...     def forward_postprocess(self, function, in_data):
    ...         print(function.label)
    >>> x = core.Variable(np.ones(2, "f"))
    >>> with Labels():
    ...     y = x * x
    _ * _
    """

    name: str = "FunctionHook"
    _installed_as = "hooks"

    def added(self, function: Any = None) -> None:
        """Called when the hook is registered: with `function`, or None in a `with` block."""

    def deleted(self, function: Any = None) -> None:
        """Called when the hook is removed: from `function`, or with None after a block."""

    def forward_preprocess(self, function: Any, in_data: tuple[AnyArray, ...], /) -> None:
        """Called before `function` computes its outputs from the arrays `in_data`."""

    def forward_postprocess(self, function: Any, in_data: tuple[AnyArray, ...], /) -> None:
        """Called after `function` has computed its outputs."""

    def _computed(self, function: Any, in_data: tuple[AnyArray, ...], outputs: Any) -> None:
        # What the engine calls; the outputs are for the engine's own hooks.
        self.forward_postprocess(function, in_data)

    def backward_preprocess(
        self, function: Any, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...], /
    ) -> None:
        """Called before `function` computes gradients.

        `in_data` has its input arrays, None for those not retained; `out_grad` the arrays of the
        gradients of its outputs, None where none came.
        """

    def backward_postprocess(
        self, function: Any, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...], /
    ) -> None:
        """Called after `function` has computed gradients."""


def get_function_hooks() -> dict[str, FunctionHook]:
    """Return the active function hooks of this thread, by name.

    >>> get_function_hooks()
    {}
    """
    return dict(current_state().hooks)
