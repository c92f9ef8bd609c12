"""Arguments that are no numbers or names: what they have to be."""

from __future__ import annotations

from typing import Any

from core.training import Communicator


def refuse_other(where: str, name: str, value: Any, kind: type, such_as: str) -> None:
    """Raise TypeError for a value of another kind."""
    if not isinstance(value, kind):
        got = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"{where}: expected {name} to be {such_as}, got {got}.")


def refuse_again(where: str, value: Any, made: type) -> None:
    """Raise TypeError for what is one of all ranks already, whose steps would be taken twice."""
    if isinstance(value, made):
        raise TypeError(
            f"{where}: expected one of a process alone, got a {type(value).__name__}, which is one "
            "of all ranks already. Take it as it is."
        )


def refuse_no_communicator(where: str, comm: Any) -> None:
    """Raise TypeError for what is no communicator."""
    refuse_other(where, "comm", comm, Communicator, "what create_communicator(...) makes")


def refuse_copies(self: Any, protocol: Any) -> Any:
    """The `__reduce_ex__` of what makes its steps with those of other ranks."""
    raise TypeError(
        f"{type(self).__name__} can be neither pickled nor deeply copied: its steps are those of "
        "all ranks. Save it by core.serializers, or copy its target, and set up another one."
    )


def length_of(where: str, value: Any) -> int:
    """The length of a dataset. Raises TypeError for what has none."""
    if isinstance(value, type) or not hasattr(value, "__len__"):
        raise TypeError(
            f"{where}: expected a dataset that has a length, got {type(value).__name__}."
        )
    return len(value)
