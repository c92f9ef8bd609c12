"""The trigger that fires once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors.kinds import checked
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer, Serializer
from plugins.training.triggers.shared import once_an_iteration, serialize_answer

if TYPE_CHECKING:
    from core.training import Loop


class OnceTrigger(NeedsInit):
    """Fires at the first iteration of training, and with `call_on_resume` at the first after each
    resumption too.

    >>> once = OnceTrigger()
    >>> once(None), once(None), once.finished
    (True, False, True)
    """

    is_alike = True  # on all ranks of a job

    @checked
    def __init__(self, call_on_resume: bool = False) -> None:
        self._due = True
        self._call_on_resume = call_on_resume

    @property
    def finished(self) -> bool:
        """Whether it has fired, and will not fire again in this run."""
        return not self._due

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether this is the first call."""
        due, self._due = self._due, False
        return due

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load whether the first call is still to come."""
        due = bool(serializer("due", self._due))
        if not isinstance(serializer, Serializer):
            self._due = due or self._call_on_resume
        serialize_answer(self, serializer)
