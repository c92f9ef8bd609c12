"""The trigger for what is to change when a value no longer improves, as a learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors.kinds import checked
from core.training import TriggerSpec
from plugins.training.triggers.improvement import ImprovementTrigger
from plugins.training.triggers.shared import once_an_iteration

if TYPE_CHECKING:
    from core.training import Loop


class PlateauTrigger(ImprovementTrigger):
    """Fires when `monitor` has not improved at `patience` checks, and begins to count anew.

    With a schedule it reduces a learning rate whenever training has come to a plateau:
    `trainer.extend(ExponentialShift('lr', 0.1), trigger=PlateauTrigger(patience=5))`. An evaluator
    is to be extended before it, or of greater priority, if it is its value that counts.

    `mode` says which way is better: 'min', 'max', or 'auto', which takes 'max' for names with
    'accuracy' in them, and else 'min': with a warning, unless they have 'loss', 'error' or
    'perplexity' in them. With `verbose`, every check without improvement is printed.

    Raises ValueError for a patience below 1, or another mode.

    >>> from types import SimpleNamespace
    >>> plateau = PlateauTrigger(lambda trainer: True, "loss", patience=2)
    >>> losses = (3.0, 2.0, 2.5, 2.0, 2.1, 2.2, 1.0)
    >>> [plateau(SimpleNamespace(observation={"loss": loss})) for loss in losses]
    [False, False, False, True, False, True, False]
    """

    @checked
    def __init__(
        self,
        check_trigger: TriggerSpec = (1, "epoch"),
        monitor: str = "validation/main/loss",
        patience: int = 10,
        mode: str = "auto",
        verbose: bool = False,
    ) -> None:
        super().__init__(check_trigger, monitor, patience, mode, verbose)

    @once_an_iteration
    def __call__(self, trainer: Loop) -> bool:
        """Whether a plateau has been reached."""
        self._look(trainer)
        if self._count < self.patience:
            return False
        self._count = 0
        return True
