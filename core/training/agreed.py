"""Triggers of several ranks that train together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.training.trigger import Trigger, named

if TYPE_CHECKING:
    from core.training.communicator import Communicator


class Agreed:
    """A trigger that fires on all ranks where it fires on the first."""

    is_alike = True

    def __init__(self, trigger: Trigger, comm: Communicator, who: str) -> None:
        self._trigger, self._comm, self._who = trigger, comm, who

    def __call__(self, trainer: Any) -> bool:
        """Whether it fires on the first rank."""
        return bool(self._comm.tell(self._who, int(bool(self._trigger(trainer))))[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._trigger, name)

    def __str__(self) -> str:
        return named(self._trigger)
