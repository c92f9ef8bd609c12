"""What Variables once had, or never take, refused with a cure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import UnknownName

if TYPE_CHECKING:
    from core.graph.variable import Variable

_VOLATILE = "Compute under core.no_backprop_mode() instead."


def _no_flag(self: Variable, value: object = None) -> None:
    """Version 1's flag, refused: see `core.no_backprop_mode`."""
    raise UnknownName(f"Variable.volatile no longer exists. {_VOLATILE}")


volatile = property(_no_flag, _no_flag)


def meant(
    self: Variable,
    data: Any = None,
    *,
    name: str | None = None,
    grad: Any = None,
    requires_grad: bool = True,
) -> None:
    """What `Variable` takes."""


def refuse(given: dict[str, Any]) -> None:
    """Raise for keywords that `Variable` does not take."""
    from core.errors import refuse_unknown

    known = meant.__annotations__
    refuse_unknown("Variable", given, known, {"volatile": _VOLATILE})
