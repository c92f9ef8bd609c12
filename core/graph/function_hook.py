"""Hooks that are called around every function: before and after forward, before and after backward.

A hook given to `with` sees all functions that its thread calls in the block; one given to
`function.add_hook` sees that function alone.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from core.errors import DeclarationError, HookError
from core.errors.set_by_init import NeedsInit
from core.registry.configuration import current_state, install_hooks
from core.typing import AnyArray

_CALLED = (
    "added",
    "deleted",
    "forward_preprocess",
    "forward_postprocess",
    "backward_preprocess",
    "backward_postprocess",
)
_NEAR = 0.8  # how alike two names are, at least, for one to be taken for a slip of the other


class FunctionHook(NeedsInit):
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

    name: ClassVar[str] = "FunctionHook"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in cls.__dict__.items():
            if callable(member) and not name.startswith("_"):
                _refuse_slip(cls, name)

    def __enter__(self) -> Self:
        hooks = current_state().hooks
        if self.name in hooks:
            raise HookError(
                f"with {type(self).__name__}: expected no other hook named {self.name!r} here, got "
                f"a {type(hooks[self.name]).__name__} of that name. Leave its block first, or set "
                "another `name` on the hook."
            )
        self.added(None)
        install_hooks({**current_state().hooks, self.name: self})
        return self

    def __exit__(self, *_: object) -> None:
        install_hooks(
            {name: hook for name, hook in current_state().hooks.items() if hook is not self}
        )
        self.deleted(None)

    def added(self, function: Any = None) -> None:
        """Called when the hook is registered: with `function`, or None in a `with` block."""

    def deleted(self, function: Any = None) -> None:
        """Called when the hook is removed: from `function`, or with None after a block."""

    def forward_preprocess(self, function: Any, in_data: tuple[AnyArray, ...]) -> None:
        """Called before `function` computes its outputs from the arrays `in_data`."""

    def forward_postprocess(self, function: Any, in_data: tuple[AnyArray, ...]) -> None:
        """Called after `function` has computed its outputs."""

    def backward_preprocess(
        self, function: Any, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Called before `function` computes gradients.

        `in_data` has its input arrays, None for those not retained; `out_grad` the arrays of the
        gradients of its outputs, None where none came.
        """

    def backward_postprocess(
        self, function: Any, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Called after `function` has computed gradients."""


def get_function_hooks() -> dict[str, FunctionHook]:
    """Return the active function hooks of this thread, by name.

    >>> get_function_hooks()
    {}
    """
    return dict(current_state().hooks)


def _refuse_slip(cls: type[FunctionHook], name: str) -> None:
    if any(hasattr(base, name) for base in cls.__bases__):
        return
    import difflib

    near = difflib.get_close_matches(name, _CALLED, n=1, cutoff=_NEAR)
    if near:
        raise DeclarationError(
            f"{cls.__name__}: expected the methods of a function hook ({', '.join(_CALLED)}), got "
            f"{name!r}. Did you mean {near[0]!r}? A helper's name may start with an underscore."
        )
