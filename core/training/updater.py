"""The base of updaters, which make the steps of training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer


class Updater(NeedsInit, ABC):
    """Base of updaters, which make the steps of a training.

    `iteration` counts the steps. Interval triggers also read `epoch`, `epoch_detail`,
    `previous_epoch_detail` and `is_new_epoch`, where an updater goes through a dataset.
    """

    iteration: int = 0

    if TYPE_CHECKING:  # where an updater goes through a dataset

        @property
        def epoch(self) -> int:
            """How many passes over the dataset are complete."""

        @property
        def epoch_detail(self) -> float:
            """How many passes have been made, as a fraction."""

        @property
        def previous_epoch_detail(self) -> float | None:
            """The same before the latest step."""

        @property
        def is_new_epoch(self) -> bool:
            """Whether the latest step completed a pass."""

    @abstractmethod
    def update(self) -> None:
        """Make one step, and count it in `iteration`."""

    @abstractmethod
    def get_all_optimizers(self) -> dict[str, Any]:
        """Return name -> optimizer, for all optimizers."""

    def get_optimizer(self, name: str) -> Any:
        """Return the optimizer called `name`."""
        return self.get_all_optimizers()[name]

    def connect_trainer(self, trainer: Any, /) -> None:
        """Called once by the trainer that uses this updater."""

    def finalize(self) -> None:
        """Release what the updater holds; called when training ends."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load everything that later steps depend on; only snapshots call it."""
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method serialize(self, serializer), by which "
            "snapshots save and resume; found none."
        )


def __getattr__(name: str) -> Any:
    """What existing scripts look for here: `core.training.updater.StandardUpdater`."""
    if name in ("ParallelUpdater", "StandardUpdater"):
        from core.training import updaters

        return getattr(updaters, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
