"""The trigger `Thing`."""

from typing import Any


class Thing:
    """Fires in iterations 1, 2, 4, 8 and so on."""

    def __call__(self, trainer: Any) -> bool:
        """Whether this is such an iteration."""
        iteration: int = trainer.updater.iteration
        return iteration & (iteration - 1) == 0
