"""The plan of a training: who makes its steps, until when, and what is called beside them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from core.training.agreed import Agreed
from core.training.extended import Extended
from core.training.trigger import Trigger, TriggerSpec, get_trigger
from core.training.updater import Updater

if TYPE_CHECKING:
    from core.training.communicator import Communicator

_NEEDED = ("update", "get_all_optimizers", "connect_trainer", "finalize")


class Plan(Extended):
    """An updater, extensions, the trigger that ends it, and the directory of the results."""

    epochs_agree = True
    """Whether epochs end at the same iteration on all ranks."""

    def __init__(
        self, updater: Updater, stop_trigger: TriggerSpec, out: str | os.PathLike[str]
    ) -> None:
        super().__init__()
        _check_updater(type(self).__name__, updater)
        self.updater = updater
        self.stop_trigger = get_trigger(stop_trigger)
        self.out = out
        if not isinstance(out, (str, os.PathLike)):
            raise TypeError(
                f"{type(self).__name__}: expected out to be the path of a directory, "
                f"got {out!r:.60}."
            )
        if os.path.exists(out) and not os.path.isdir(out):
            raise NotADirectoryError(
                f"{type(self).__name__}: expected out to be a directory, or a name that is free; "
                f"got the file {os.fspath(out)!r}. Choose another."
            )

    @property
    def communicator(self) -> Communicator | None:
        """That of the ranks that make the steps together; None for a process alone."""
        found: Communicator | None = getattr(stepping(self.updater), "communicator", None)
        return found

    @property
    def share(self) -> float:
        """The share of this rank in the examples of the latest step of all ranks."""
        return float(getattr(stepping(self.updater), "share", 1.0))

    def agreed(self, trigger: Trigger, who: str) -> Trigger:
        """A trigger, made to fire at once on all ranks that train together: as on the first.

        All ask it in the same iterations. It is the same one where the ranks agree anyway, as it
        counts iterations, or epochs that end together, or `is_alike` by what it says itself. `who`
        is told in errors. For extensions whose `ranks` are 'together', which have triggers inside.
        """
        unit = getattr(trigger, "unit", None)
        alike = unit == "iteration" or (unit == "epoch" and self.epochs_agree)
        if self.communicator is None or getattr(trigger, "is_alike", alike):
            return trigger
        return Agreed(trigger, self.communicator, who)

    @property
    def is_before_training(self) -> bool:
        """Whether no update has been made yet."""
        return self.updater.iteration == 0


def _check_updater(who: str, updater: Any) -> None:
    missing = [name for name in _NEEDED if not hasattr(updater, name)]
    if missing:
        raise TypeError(
            f"{who}: expected an updater, such as training.updaters.StandardUpdater(iterator, "
            f"optimizer); got {updater!r:.60}, which has no {missing[0]}()."
        )


def stepping(updater: Any) -> Any:
    """What makes the steps of several ranks: the updater or an optimizer; None for a process alone.

    That is what has a `communicator`, the largest one.
    """
    parts = [updater, *updater.get_all_optimizers().values()]
    sizes = [getattr(getattr(part, "communicator", None), "size", 1) for part in parts]
    return parts[sizes.index(max(sizes))] if max(sizes) > 1 else None
