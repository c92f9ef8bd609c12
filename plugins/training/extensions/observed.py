"""Means of what is observed, over all ranks of a job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from core.link.serializer import AbstractSerializer, Deserializer
from core.training import TriggerSpec, get_trigger
from core.training.reporter import DictSummary
from plugins.training.extensions.slips import warn_of_slips

if TYPE_CHECKING:
    from core.training import Communicator, Loop


class Observed:
    """What has been observed of `keys`, or of everything, since `trigger` fired last.

    Ranks that call this together add up what each has observed when the trigger fires. An
    observation counts by the rank's share in the examples of the step, so that a mean over the
    batches of the ranks is the one over the whole batch; a pair (value, weight) by its own weight.
    What is observed before the training, by extensions that are called then, is due at once; in a
    run that is resumed it was seen when this began. With `warns`, names that nothing has reported
    are told when the trigger fires first.
    """

    def __init__(
        self, who: str, keys: Iterable[str] | None, trigger: TriggerSpec, warns: bool = True
    ) -> None:
        self.keys = [keys] if isinstance(keys, str) else None if keys is None else list(keys)
        self._who = who
        self._trigger = get_trigger(trigger)
        self._comm: Communicator | None = None
        self._summary = DictSummary()
        self._warns = warns and self.keys is not None
        self._is_loaded = False
        self._at = -1  # the iteration that was taken into account last

    def begin(self, trainer: Loop, comm: Communicator | None) -> None:
        """Get ready for a run, in which the ranks of `comm` call this together."""
        self._comm = comm
        if comm is not None:
            self._trigger = trainer.agreed(self._trigger, f"the trigger of {self._who}")

    def __call__(self, trainer: Loop) -> DictSummary | None:
        """Take the observation into account; when it is time, return what there was since then."""
        return self.take(trainer.observation, trainer)

    def take(self, observed: dict[str, Any], trainer: Loop) -> DictSummary | None:
        """The same with other values than those of the observation."""
        now = getattr(getattr(trainer, "updater", None), "iteration", -1)
        if self._is_loaded and self._at == now:
            return None
        self._at = now
        if self.keys is not None:
            observed = {key: observed[key] for key in self.keys if key in observed}
        self._add(observed, trainer)
        is_due, begins = self._trigger(trainer), getattr(trainer, "is_before_training", False)
        if not (is_due or begins):
            return None
        if not begins:
            if self._warns and self.keys and (self._comm is None or self._comm.rank == 0):
                warn_of_slips(self._who, self.keys, trainer.observation)
            self._warns = False
        if self._comm is not None:
            self._merge(self._comm)
        found, self._summary = self._summary, DictSummary()
        return found

    def _add(self, observed: dict[str, Any], trainer: Loop) -> None:
        if self._comm is not None:
            if self._is_loaded and self._comm.rank:  # all of it was saved by the first one
                self._summary = DictSummary()
            share = trainer.share
            observed = {
                key: value if isinstance(value, tuple) else (value, share)
                for key, value in observed.items()
                if share or isinstance(value, tuple)
            }
        self._is_loaded = False
        self._summary.add(observed)

    def _merge(self, comm: Communicator) -> None:
        """Let every rank have what all have."""
        comm.tell(f"the means of {self._who}")
        everywhere = comm.allgather_obj(self._summary.state())
        self._summary = DictSummary()
        for state in everywhere:
            self._summary.merge(state)

    def collect(self) -> None:
        """Let the first rank have what all have, and the others nothing."""
        if self._comm is not None:
            self._merge(self._comm)
            if self._comm.rank:
                self._summary = DictSummary()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the trigger, and what was observed since it fired."""
        if hasattr(self._trigger, "serialize"):
            self._trigger.serialize(serializer["trigger"])
        self._summary.serialize(serializer["summary"])
        self._at = int(serializer.optional_value("at", self._at))
        self._is_loaded |= isinstance(serializer, Deserializer)  # and may be handed on, to ranks
