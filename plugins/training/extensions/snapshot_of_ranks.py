"""One snapshot of a training on many ranks."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from core.arrays import backend
from core.errors import CheckpointError, CommunicatorError
from core.link.serializer import AbstractSerializer, Serializer
from core.training import Communicator, Extension
from plugins.serializers.dictionary import DictionarySerializer, entries_of
from plugins.serializers.npz import NpzDeserializer

if TYPE_CHECKING:
    from core.training import Loop
    from plugins.training.extensions.snapshot import Snapshot


class _Giving(Serializer):
    """Saves nothing, on ranks that give others what these save."""

    def __getitem__(self, key: str) -> _Giving:
        return self

    def __call__(self, key: str, value: Any) -> Any:
        """The value as it is."""
        return value


def _place_of(trainer: Loop) -> dict[str, Any]:
    """How far this rank has come in its own part of the data, by names of a trainer's file."""
    saved = DictionarySerializer()
    iterators: Any = getattr(trainer.updater, "get_all_iterators", dict)()  # if it has any
    for name, iterator in iterators.items():
        iterator.serialize(saved["updater"][f"iterator:{name}"])
    return saved.target


def _unlike(own: dict[str, Any], everywhere: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the ranks have that is not what this one has; nothing at all where all are alike."""
    found = [
        {name: value for name, value in each.items() if not _same(value, own.get(name))}
        for each in everywhere
    ]
    return found if any(found) else []


def _same(one: Any, other: Any) -> bool:
    return one.dtype == getattr(other, "dtype", None) and bool(np.array_equal(one, other))


class MultiNodeSnapshot(Extension):
    """What `multi_node_snapshot` makes, and `snapshot` becomes where ranks train together.

    `of` is the communicator of those for which this rank, or its master, saves.
    """

    ranks = "together"
    leads = True  # masters alone answer

    def __init__(self, comm: Communicator, snapshot: Snapshot, master: bool, of: Any) -> None:
        self.comm, self._snapshot, self._is_master, self._set = comm, snapshot, master, of
        self.trigger, self.priority = snapshot.trigger, snapshot.priority

    @property
    def default_name(self) -> str:
        """The name of the snapshot that one rank makes for all."""
        return self._snapshot.default_name

    def among(self, communicator: Communicator) -> Any:
        """Return itself: its communicator is given."""
        return self

    def initialize(self, trainer: Loop) -> None:
        """Load the newest good snapshot on the master, and hand it to the others.

        From now on a signal that asks one rank to end is one to all, at the same iteration.
        """
        target, before = self._snapshot.saved_of(trainer), trainer.updater.iteration
        if target is trainer:
            trainer.agree_on_signal = self._signal_of_any
        if self._is_master:
            self._snapshot.initialize(trainer)
        saved = None
        if self._is_master and self._snapshot._loaded is not None:
            saved = entries_of("multi_node_snapshot", target)
        saved, places = self._set.bcast_obj((saved, self._snapshot.places))
        if saved is not None and not self._is_master:
            if len(places) == self.comm.size:
                saved |= places[self.comm.rank]
            NpzDeserializer(saved, strict=False).load(target)
        loaded = self.comm.allgather_obj(trainer.updater.iteration)
        if len({*loaded}) > 1:
            raise CheckpointError(
                "multi_node_snapshot: expected snapshots of the same iteration on all ranks, found "
                f"those of {', '.join(map(str, loaded))}, from {before}."
            )
        if trainer.is_resumed and self._snapshot.random_states:
            self._take_own_draws(trainer)
        self._snapshot.random_states, self._snapshot.places = [], []

    def _signal_of_any(self, received: signal.Signals | None) -> signal.Signals | None:
        number = max(self.comm.tell("the next step of a trainer", int(received or 0)))
        return signal.Signals(number) if number else None

    def _take_own_draws(self, trainer: Loop) -> None:
        rank, states = self.comm.rank, self._snapshot.random_states
        if len(states) == self.comm.size:
            state = states[rank]
        else:  # another number of ranks: further streams, which none of the earlier ones was
            state = dict(states[0])
            if state["stream"] is not None and rank:
                seed = states[0]["stream"]["seed"] + (rank << 20) + self.comm.size
                state["stream"] = {**state["stream"], "seed": seed}
        trainer.draw_on_from(state)

    def __call__(self, trainer: Loop) -> None:
        """Save on the masters, all ranks being at the same iteration; return when that is done."""
        self.comm.compare("multi_node_snapshot at iteration", [trainer.updater.iteration])
        wanted = self._is_master and self._snapshot.is_due()
        target = self._snapshot.saved_of(trainer)
        place = _place_of(trainer) if target is trainer else {}
        told = self.comm.allgather_obj((wanted, backend.random_state(), place))
        if not any([each for each, *_ in told]):
            return
        failure = None
        try:
            if target is trainer:
                trainer.collect()
                self._snapshot.random_states = [state for _, state, _ in told]
                self._snapshot.places = _unlike(place, [each for *_, each in told])
            if wanted:
                self._snapshot.save(trainer)
            else:  # what is divided among the ranks is saved by all of them together
                target.serialize(_Giving())
        except Exception as error:
            failure = error
        finally:
            self._snapshot.random_states, self._snapshot.places = [], []
        failures = self.comm.allgather_obj(failure and repr(failure))
        if failure is not None:
            raise failure
        if any(failures):
            raise CommunicatorError(
                "multi_node_snapshot: saving failed on another rank: "
                f"{next(filter(None, failures))}"
            )

    def on_error(self, trainer: Loop, exc: Exception, tb: TracebackType | None) -> None:
        """Save what a master has, if this is enabled: the other ranks may have gone."""
        if self._is_master:
            self._snapshot.on_error(trainer, exc, tb)

    def on_interrupt(self, trainer: Loop) -> None:
        """Save where a single process would."""
        if self._snapshot.snapshot_on_interrupt:
            self(trainer)

    def how_to_resume(self, trainer: Loop) -> str | None:
        """Name the newest file, and what loads it."""
        return self._snapshot.how_to_resume(trainer) if self._is_master else None

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """The snapshots that are there, with their runs."""
        return self._snapshot.files_in_the_way(trainer) if self._is_master else ()

    def finalize(self) -> None:
        """Wait for what is being written in the background."""
        self._snapshot.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what each rank has of its own."""
        self._snapshot.serialize(serializer)
