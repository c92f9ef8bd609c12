"""The steps of optimizers that a program makes, and whether it may still make them."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from core.errors import TraceError
from core.optimizer import UpdateRule
from core.programs.structure import PLAIN


class Steps:
    """How many steps a rule, or an optimizer, makes in a run, and the numbers in a program.

    A program has the numbers of the trace: hyper-parameters, and what follows from the count `t`.
    """

    def __init__(self, name: str, owner: Any, t: int) -> None:
        self._name = name
        self._owner = owner
        self._t = t
        self._count = owner.t - t
        hyperparam = getattr(owner, "hyperparam", None)
        self._numbers = None if hyperparam is None else hyperparam.get_dict()
        self._follows = _reads_count(type(owner))
        self._hooks = _hooks_of(owner)

    def refuse_others(self) -> None:
        """Raise TraceError where a step would be made with other numbers now."""
        owner, name = self._owner, f"{self._name} ({type(self._owner).__name__})"
        if self._numbers is not None and owner.hyperparam.get_dict() != self._numbers:
            raise TraceError(
                f"trace: {name} has other hyper-parameters now, {owner.hyperparam.get_dict()}, "
                f"than at the trace, {self._numbers}. Trace again."
            )
        if not getattr(owner, "enabled", True):
            raise TraceError(f"trace: {name} is frozen now, and was not at the trace. Trace again.")
        if (hooks := _hooks_of(owner)) != self._hooks:
            raise TraceError(
                f"trace: {name} has other hooks now, or hooks of other numbers: "
                f"{_told(hooks)}, and {_told(self._hooks)} at the trace. Trace again."
            )
        if self._follows and owner.t != self._t:
            raise TraceError(
                f"trace: {name} has numbers that follow from its count of steps, and the program "
                f"has those of step {self._t + 1}; this would be step {owner.t + 1}. Trace again."
            )

    def count(self) -> None:
        """Count the steps of a run that has been made."""
        self._owner.t += self._count


def _hooks_of(owner: Any) -> list[tuple[Any, dict[str, Any]]]:
    """The hooks of an optimizer or a rule, each with its numbers and texts."""
    hooks = [*owner._hooks.pre, *owner._hooks.post]
    numbers = [getattr(hook, "__dict__", {}).items() for hook in hooks]
    plain = [{name: x for name, x in own if isinstance(x, PLAIN)} for own in numbers]
    return list(zip(hooks, plain, strict=True))


def _told(hooks: list[tuple[Any, dict[str, Any]]]) -> str:
    names = [getattr(hook, "__name__", type(hook).__name__) for hook, _ in hooks]
    return (
        ", ".join([f"{n}{own or ''}" for n, (_, own) in zip(names, hooks, strict=True)]) or "none"
    )


def _reads_count(cls: type) -> bool:
    """Whether what a rule's author has written looks at `t`."""
    if not issubclass(cls, UpdateRule):
        return False
    parts = [part for base in cls.__mro__ for part in vars(base).values() if _is_own(base)]
    functions = [part.fget if isinstance(part, property) else part for part in parts]
    return any(["t" in names_in(f.__code__) for f in functions if isinstance(f, FunctionType)])


def _is_own(base: type) -> bool:
    return base is not UpdateRule and base not in UpdateRule.__mro__


def names_in(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function, and in those within it."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from names_in(part)
