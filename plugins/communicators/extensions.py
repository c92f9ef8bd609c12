"""What a trainer of several ranks calls between its updates."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from warnings import warn

from core.arrays import backend
from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.graph.fitting import is_array
from core.link import Link
from core.training import (
    PRIORITY_EDITOR,
    PRIORITY_WRITER,
    Communicator,
    Extension,
    TriggerSpec,
    get_trigger,
    on_host,
)
from plugins.communicators.argument import refuse_no_communicator, refuse_other
from plugins.serializers.npz import load_npz, save_npz
from plugins.training.extensions.snapshot import Snapshot
from plugins.training.extensions.snapshot_files import run_of
from plugins.training.extensions.snapshot_of_ranks import MultiNodeSnapshot
from plugins.training.triggers.early_stopping_trigger import EarlyStoppingTrigger


class AllreducePersistent(Extension):
    """Let the running statistics of a model be their means over all ranks.

    For layers such as `BatchNormalization`, each of which has seen the examples of its rank alone;
    to be called before an evaluation or a snapshot.
    """

    ranks = "together"
    trigger = (1, "epoch")
    priority = PRIORITY_WRITER + 1  # before evaluators

    def __init__(self, model: Link, comm: Communicator) -> None:
        refuse_other("AllreducePersistent", "model", model, Link, "a link")
        refuse_no_communicator("AllreducePersistent", comm)
        self.model, self.comm = model, comm

    def __call__(self, trainer: Any = None) -> None:
        """Take the means, of floating arrays alone."""
        for _, link in sorted(self.model.namedlinks(), key=lambda entry: entry[0]):
            for name in sorted(link._persistent):
                value = getattr(link, name)
                if is_array(value) and backend.of(value).kind(value.dtype) == "f":
                    mean = self.comm.allreduce(value) / self.comm.size
                    moved = backend.of(value).copyto(value, mean)
                    setattr(link, name, moved)


class ObservationAggregator(Extension):
    """Replace an observed value by one that is made of those of all ranks.

    Args:
        comm: The communicator.
        original_key: What is observed on each rank, such as 'main/loss'.
        aggregated_key: Under which name the result is observed; None is the same.
        comm_trigger: When the ranks tell each other; in between each keeps what it has seen.
        aggregator: Makes the result of a list, with a list of the values of each rank; None takes
            the mean of them all. None in a list stands for a value that was not observed.
    """

    ranks = "together"
    trigger = (1, "iteration")
    priority = PRIORITY_EDITOR

    def __init__(
        self,
        comm: Communicator,
        original_key: str,
        aggregated_key: str | None = None,
        comm_trigger: TriggerSpec = (1, "iteration"),
        aggregator: Callable[[list[list[Any]]], Any] | None = None,
    ) -> None:
        refuse_no_communicator("ObservationAggregator", comm)
        self.comm, self.original_key = comm, original_key
        self.aggregated_key = aggregated_key or original_key
        self.comm_trigger = get_trigger(comm_trigger)
        self.aggregator = aggregator or _mean
        self._seen: list[Any] = []

    @property
    def default_name(self) -> str:
        """One for each value."""
        return f"ObservationAggregator({self.aggregated_key})"

    def __call__(self, trainer: Any) -> None:
        """Keep the value; where the trigger fires, observe what all ranks have seen."""
        value = trainer.observation.get(self.original_key)
        value = getattr(value, "array", value)
        self._seen.append(on_host(value)[()] if hasattr(value, "dtype") else value)
        if self.comm_trigger(trainer):
            everywhere = self.comm.allgather_obj(self._seen)
            self._seen = []
            trainer.observation[self.aggregated_key] = self.aggregator(everywhere)


def _mean(everywhere: list[list[Any]]) -> Any:
    values = [value for seen in everywhere for value in seen if value is not None]
    return sum(values) / len(values) if values else float("nan")


class MultiNodeEarlyStoppingTrigger(EarlyStoppingTrigger):
    """An early stopping trigger that fires on all ranks at once.

    It compares the mean over all ranks; the arguments after `comm` are those of
    `triggers.EarlyStoppingTrigger`.
    """

    is_alike = True

    @checked
    def __init__(
        self,
        comm: Communicator,
        check_trigger: TriggerSpec = (1, "epoch"),
        monitor: str = "main/loss",
        patients: int = 3,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: TriggerSpec = (100, "epoch"),
        *,
        patience: int | None = None,
    ) -> None:
        refuse_no_communicator("MultiNodeEarlyStoppingTrigger", comm)
        given = (check_trigger, monitor, patients, mode, verbose and comm.rank == 0, max_trigger)
        super().__init__(*given, patience=patience)
        self._aggregator = ObservationAggregator(comm, self.monitor)
        self._comm = comm

    def __call__(self, trainer: Any) -> bool:
        """Whether training should stop, as rank 0 decides."""
        if any(self._comm.allgather_obj(self.monitor in trainer.observation)):
            self._aggregator(trainer)
        return bool(self._comm.bcast_obj(super().__call__(trainer)))


@checked
def multi_node_snapshot(
    comm: Communicator, snapshot: Snapshot, replica_sets: list[Any] | None = None
) -> MultiNodeSnapshot:
    """Make one snapshot of a training on many ranks, complete or not at all.

    All ranks save and resume at the same iteration. The file has the state of rank 0, and of all
    ranks their random numbers and places in their data. Where that is the state of all, as it is
    with `create_multi_node_optimizer`, it resumes on as many ranks to the bit, and with
    `PartitionedIterator` on fewer or more with the next example.

    Args:
        comm: The communicator.
        snapshot: What `extensions.snapshot(...)` makes; with `autoload` the ranks go on from the
            newest file together.
        replica_sets: Lists of ranks whose states are the same, of which the first saves and hands
            over; ranks in none save for themselves, and need different file names. None is one
            list of all ranks.
    """
    refuse_no_communicator("multi_node_snapshot", comm)
    what = "what extensions.snapshot(...) makes"
    refuse_other("multi_node_snapshot", "snapshot", snapshot, Snapshot, what)
    sets = [[*range(comm.size)]]
    if replica_sets is not None:
        for each in replica_sets:
            refuse_other("multi_node_snapshot", "replica_sets", each, Iterable, "lists of ranks")
        sets = [sorted(each) for each in replica_sets]
    given = [rank for each in sets for rank in each]
    for rank in given:
        comm._peer("multi_node_snapshot", rank, itself=True)
    if len({*given}) < len(given):
        raise CommunicatorError("multi_node_snapshot: expected each rank in one replica set only.")
    sets += [[rank] for rank in range(comm.size) if rank not in given]
    number = next(i for i, each in enumerate(sets) if comm.rank in each)
    members = comm.split(number, comm.rank)
    return MultiNodeSnapshot(comm, snapshot, sets[number][0] == comm.rank, members)


class MultiNodeCheckpointer(Extension):
    """What `create_multi_node_checkpointer` makes."""

    ranks = "together"
    trigger = (1, "epoch")
    priority = -100
    leads = True  # all ranks have files of their own

    def __init__(
        self, name: str, comm: Communicator, cp_interval: int, gc_interval: int, path: Any
    ) -> None:
        self.checkpoint_name, self.comm, self.path = name, comm, path
        self.cp_interval, self.gc_interval = cp_interval, gc_interval
        self._calls = 0

    def _folder(self, trainer: Any) -> Path:
        return Path(trainer.out if self.path is None else self.path)

    def _file(self, trainer: Any, iteration: int) -> Path:
        return (
            self._folder(trainer) / f"snapshot_{self.checkpoint_name}_{self.comm.rank}_{iteration}"
        )

    def _own(self, trainer: Any) -> set[int]:
        """The iterations of which this rank has a file."""
        form = re.compile(rf"snapshot_{re.escape(self.checkpoint_name)}_{self.comm.rank}_(\d+)")
        folder = self._folder(trainer)
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return {int(found[1]) for name in names if (found := form.fullmatch(name))}

    def __call__(self, trainer: Any) -> None:
        """Save this rank's state; now and then remove what is older than the newest ones."""
        self._folder(trainer).mkdir(parents=True, exist_ok=True)
        trainer.collect()
        save_npz(self._file(trainer, trainer.updater.iteration), trainer)
        self.comm.barrier()  # the file of every rank stands
        self._calls += 1
        if self._calls % self.gc_interval == 0:
            now = trainer.updater.iteration  # further ones are of another training
            past = sorted([iteration for iteration in self._own(trainer) if iteration <= now])
            for iteration in past[: -self.cp_interval]:
                self._file(trainer, iteration).unlink(missing_ok=True)

    def files_in_the_way(self, trainer: Any) -> Iterable[tuple[Path, str | None]]:
        """The files of this rank that are there, with their runs."""
        for iteration in self._own(trainer):
            path = self._file(trainer, iteration)
            yield path, run_of(path)

    def maybe_load(self, trainer: Any, optimizer: Any = None, path: Any = None) -> int | None:
        """Go on from the last iteration that all ranks have saved; None where there is none.

        Call it on every rank, after all extensions are added. `optimizer` is taken for ChainerMN's
        sake: the trainer has it.
        """
        if path is not None:
            self.path = path
        everywhere = self.comm.allgather_obj(self._own(trainer))
        known = set.intersection(*everywhere)
        if not known:
            if any(everywhere) and self.comm.rank == 0:
                without = [rank for rank, own in enumerate(everywhere) if not own]
                some = f"ranks {without} have none" if without else "each has others"
                warn(
                    f"maybe_load: of the checkpoints {self.checkpoint_name!r} in "
                    f"{self._folder(trainer)} none is of an iteration that all ranks have: {some}. "
                    "Training begins anew. Resume on as many ranks as have saved, or save by "
                    "extensions.snapshot, whose file resumes on any number.",
                    stacklevel=2,
                )
            return None
        newest: int = max(known)
        load_npz(self._file(trainer, newest), trainer)
        if self.comm.rank == 0:
            print(f"Resumed all ranks from iteration {newest}", file=sys.stderr)
        return newest


@checked
def create_multi_node_checkpointer(
    name: str, comm: Communicator, cp_interval: int = 5, gc_interval: int = 5, path: Any = None
) -> MultiNodeCheckpointer:
    """An extension by which each rank saves its own state, to resume on as many ranks.

    Args:
        name: Begins the names of the files.
        comm: The communicator.
        cp_interval: How many checkpoints are kept when old ones are removed.
        gc_interval: After how many calls that is done.
        path: Where the files go; None is the directory of the results. Ranks on several machines
            need not see each other's files.
    """
    refuse_no_communicator("create_multi_node_checkpointer", comm)
    if cp_interval < 1 or gc_interval < 1:
        raise CommunicatorError(
            "create_multi_node_checkpointer: expected intervals of 1 or more, got "
            f"cp_interval={cp_interval} and gc_interval={gc_interval}."
        )
    return MultiNodeCheckpointer(name, comm, cp_interval, gc_interval, path)
