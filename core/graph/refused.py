"""What Variables once had, or never take, refused with a cure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import UnknownName, kinds

if TYPE_CHECKING:
    from core.graph.variable import Variable

_VOLATILE = "Compute under core.no_backprop_mode() instead."


class Refused:
    """Attributes of earlier versions."""

    __slots__ = ()

    @property
    def volatile(self) -> None:
        """Version 1's flag, refused: see `core.no_backprop_mode`."""
        raise UnknownName(f"Variable.volatile no longer exists. {_VOLATILE}")

    @volatile.setter
    def volatile(self, value: object) -> None:
        raise UnknownName(f"Variable.volatile no longer exists. {_VOLATILE}")


def meant(
    self: Variable,
    data: Any = None,
    *,
    name: str | None = None,
    grad: Any = None,
    requires_grad: bool = True,
) -> None:
    """What `Variable` takes."""


def truth(variable: Variable, requires_grad: Any) -> bool:
    """`requires_grad`, where it is a truth value of a library; TypeError for anything else."""
    check = kinds.taking(kinds.kind_of("bool"), type(variable).__name__, "requires_grad")
    truth: bool = check(requires_grad)
    return truth


def refuse(given: dict[str, Any]) -> None:
    """Raise for keywords that `Variable` does not take."""
    from core.errors import refuse_unknown

    known = meant.__annotations__
    refuse_unknown("Variable", given, known, {"volatile": _VOLATILE})
