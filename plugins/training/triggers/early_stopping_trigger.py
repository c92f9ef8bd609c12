"""The trigger that stops training when a value no longer improves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors.kinds import checked
from core.link.serializer import AbstractSerializer
from core.training import TriggerSpec, get_trigger
from plugins.training.triggers.improvement import ImprovementTrigger

if TYPE_CHECKING:
    from core.training import Loop


class EarlyStoppingTrigger(ImprovementTrigger):
    """A stop trigger: fires when `monitor` has not improved at `patients` checks, or at the latest
    when `max_trigger` does.

    `mode` says which way is better: 'min', 'max', or 'auto', which takes 'max' for names with
    'accuracy' in them, and else 'min': with a warning, unless they have 'loss', 'error' or
    'perplexity' in them. With `verbose`, every check without improvement is printed. `patience` is
    another name of `patients`.

    Raises ValueError for a patience below 1, or another mode.

    >>> from types import SimpleNamespace
    >>> each = lambda trainer: True
    >>> stop = EarlyStoppingTrigger(each, "loss", patience=2, max_trigger=lambda trainer: False)
    >>> losses = (3.0, 2.0, 2.5, 1.0, 1.5, 1.2)
    >>> [stop(SimpleNamespace(observation={"loss": loss})) for loss in losses]
    [False, False, False, False, False, True]
    """

    @checked
    def __init__(
        self,
        check_trigger: TriggerSpec = (1, "epoch"),
        monitor: str = "main/loss",
        patients: int = 3,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: TriggerSpec = (100, "epoch"),
        *,
        patience: int | None = None,
    ) -> None:
        patience = patients if patience is None else patience
        super().__init__(check_trigger, monitor, patience, mode, verbose)
        self._limit = get_trigger(max_trigger)

    def __call__(self, trainer: Loop) -> bool:
        """Whether training should stop."""
        over = self._limit(trainer)
        self._look(trainer)
        return over or self._count >= self.patience

    def get_training_length(self) -> tuple[float, str] | None:
        """The greatest length of training, as progress bars show it; None if `max_trigger` has
        none.
        """
        length = getattr(self._limit, "get_training_length", None)
        return None if length is None else length()

    def count_from_beginning(self) -> None:
        """Let `max_trigger` count from the beginning of training."""
        if hasattr(self._limit, "count_from_beginning"):
            self._limit.count_from_beginning()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the best value, and what was observed since the last check."""
        if hasattr(self._limit, "serialize"):
            self._limit.serialize(serializer["limit"])
        super().serialize(serializer)
