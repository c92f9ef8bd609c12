"""Snapshots: the state of the training, saved while it runs."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from core.errors import CheckpointDamaged, CheckpointError, nearest, place
from core.errors.kinds import checked
from core.errors.removed import removed
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import Extension
from plugins.serializers.atomic import remove_stale_temporaries, replacing
from plugins.serializers.dictionary import entries_of
from plugins.serializers.entries import RUN, WRITTEN
from plugins.serializers.hdf5 import load_hdf5, save_hdf5
from plugins.serializers.npz import load_npz, save_npz
from plugins.training.extensions import snapshot_files
from plugins.training.extensions import snapshot_writers as snapshot_writers
from plugins.training.extensions.snapshot_of_ranks import MultiNodeSnapshot

if TYPE_CHECKING:
    from core.training import Communicator, Loop

Save = Callable[[Any, Any], Any]
Load = Callable[[Any, Any], Any]
_LOAD: dict[Any, Load] = {save_npz: load_npz, save_hdf5: load_hdf5}
_POLICIES = ("raise", "warn")
_SINCE_V2 = {
    "trigger": "Pass it to Trainer.extend: "
    "trainer.extend(extensions.snapshot(), trigger=(1000, 'iteration')).",
    "num_retain": "Its name is n_retains.",
}
_OTHER_TRAINING = (
    "snapshot: autoload refuses a snapshot of another training. If the training was "
    "changed on purpose, pass autoload=functools.partial(load_npz, strict=False), which keeps the "
    "values that the file lacks, with ignore_names=[...] for state of other update rules; to "
    "start from scratch, choose another directory with out=..."
)


@checked
@removed(cures=_SINCE_V2)
def snapshot(
    savefun: Save | None = None,
    filename: str | Callable[[Any], str] = "snapshot_iter_{.updater.iteration}",
    *,
    target: Any = None,
    condition: Callable[[], bool] | None = None,
    writer: Callable[..., Any] | None = None,
    n_retains: int = -1,
    autoload: bool | Load = False,
    snapshot_on_error: bool = False,
    snapshot_on_interrupt: bool | None = None,
    on_write_error: str = "raise",
) -> Snapshot:
    """Make an extension that saves the whole trainer, by default once an epoch.

    A file appears complete under its name or not at all, whenever the process may be killed.
    `filename`, in the trainer's directory, is a format string of the trainer or a function of it;
    directories that it names are made.

    - `savefun(path, object)` saves; by default `save_npz`.
    - `target` is saved in place of the trainer.
    - `condition()` is asked whether to save, each time.
    - `writer(filename, directory, dict of host arrays)` takes the place of `savefun`: those of
      `extensions.snapshot_writers` write in the background.
    - `n_retains` is how many snapshots to keep, the newest ones; -1 keeps all. Those of other runs
      are never removed; files of your own `savefun`, which do not name their run, are removed
      by the process that wrote them alone.
    - `autoload` loads the newest snapshot in the directory, if any, when the run begins. One that
      turns out to be damaged is put aside under the ending '.damaged', with a warning, and the one
      before it is taken. One that does not fit the trainer is an error. A function
      `autoload(path, object)` takes the place of `load_npz`, as
      `functools.partial(load_npz, strict=False)` for a training that has got a further extension.
    - `snapshot_on_error` saves also when training ends by an exception, unless the iteration is
      saved already. A run that resumes from there goes on after the batch, or the several that
      were taken to be accumulated, and the random numbers, of the step that failed, which is not
      made again; or with the extension that has raised. To have the same bits as a run that has
      not failed, resume from the snapshot before.
    - `snapshot_on_interrupt` saves also when training ends by SIGINT or SIGTERM: by default where
      the whole trainer is saved. Pass False where the file is that of the best result so far.
    - Where several ranks train together, one file has the state of all: the first rank writes it,
      all being at the same iteration, and with `autoload` hands it to the others. It resumes on as
      many ranks to the bit, and with `PartitionedIterator` on fewer or more with the examples that
      come next; where each rank has a part of the data, as by `scatter_dataset`, no other number
      of ranks has these parts.
    - `on_write_error` says what an OSError means, as of a full disk: 'raise' ends the training,
      'warn' lets it go on to the next snapshot. The snapshots that stand are kept in both cases.

    >>> import core.links as L, numpy as np, os, tempfile
    >>> from core import iterators, optimizers, training
    >>> from core.training import extensions
    >>> out, data = tempfile.mkdtemp(), [(np.ones(2, "f"), np.int32(1))] * 4
    >>> def train(epochs):
    ...     optimizer = optimizers.SGD().setup(L.Classifier(L.Linear(2, 2)))
    ...     batches = iterators.SerialIterator(data, 2)
    ...     updater = training.updaters.StandardUpdater(batches, optimizer)
    ...     trainer = training.Trainer(updater, (epochs, "epoch"), out)
    ...     trainer.extend(extensions.snapshot(n_retains=1, autoload=True))
    ...     trainer.run()
    >>> train(1)
    >>> train(3)  # goes on after the first epoch
    >>> os.listdir(out)
    ['snapshot_iter_6']
    """
    made = Snapshot(filename, savefun, target, writer)
    if target is None:  # after the snapshots of parts too, whose triggers remember what they saw
        made.priority = Snapshot.priority - 50
    made.condition = condition
    made.n_retains = n_retains
    made.autoload = autoload
    made.snapshot_on_error = snapshot_on_error
    made.snapshot_on_interrupt = (
        target is None if snapshot_on_interrupt is None else snapshot_on_interrupt
    )
    made.on_write_error = on_write_error
    made.check()
    return made


@checked
@removed(cures=_SINCE_V2)
def snapshot_object(
    target: Any,
    filename: str | Callable[[Any], str],
    savefun: Save | None = None,
    *,
    condition: Callable[[], bool] | None = None,
    writer: Callable[..., Any] | None = None,
    n_retains: int = -1,
    autoload: bool | Load = False,
    snapshot_on_error: bool = False,
    snapshot_on_interrupt: bool | None = None,
    on_write_error: str = "raise",
) -> Snapshot:
    """Make an extension that saves `target`, such as a model; arguments are those of `snapshot`.

    The best model so far:

    >>> import core.links as L
    >>> from core.training import extensions, triggers
    >>> best = extensions.snapshot_object(L.Linear(3, 2), "best.npz")
    >>> when = triggers.MinValueTrigger("validation/main/loss")

    and `trainer.extend(best, trigger=when)`. `core.serializers.load_npz` loads it.
    """
    if not hasattr(target, "serialize"):
        raise TypeError(
            "snapshot_object: expected something with a method serialize(serializer), such as a "
            f"model, got {target!r:.60}. An optimizer has a target after setup(model)."
        )
    made = snapshot(
        savefun,
        filename,
        target=target,
        condition=condition,
        writer=writer,
        n_retains=n_retains,
        autoload=autoload,
        snapshot_on_error=snapshot_on_error,
        snapshot_on_interrupt=snapshot_on_interrupt,
        on_write_error=on_write_error,
    )
    made.default_name = "snapshot_object"
    return made


class Snapshot(Extension):
    """The extension that `snapshot` and `snapshot_object` make."""

    trigger = (1, "epoch")
    priority = -100  # after all others, so that their state is that of the end of the iteration
    ranks = "together"
    default_name = "snapshot"
    n_retains = -1
    autoload: bool | Load = False
    snapshot_on_error = False
    snapshot_on_interrupt = False
    on_write_error = "raise"
    _run: str | None = None  # the one under way
    _loaded: Path | None = None  # what `autoload` has found
    _newest: Path | None = None  # of the files that stand
    _saved_at: int | None = None  # the iteration whose state is in a file

    def __init__(
        self,
        filename: str | Callable[[Any], str],
        savefun: Save | None,
        target: Any,
        writer: Callable[..., Any] | None = None,
    ) -> None:
        self.filename = filename
        self.writer = writer
        self._savefun = savefun
        self._target = target
        self._written: set[Path] = set()
        self.condition: Callable[[], bool] | None = None
        self.random_states: list[Any] = []  # of all ranks, while these save or load
        self.places: list[dict[str, Any]] = []  # in their data, where not all ranks are alike

    def among(self, communicator: Communicator) -> MultiNodeSnapshot:
        """One snapshot for all ranks, which the first writes."""
        return MultiNodeSnapshot(communicator, self, communicator.rank == 0, communicator)

    def check(self) -> None:
        """Refuse settings that contradict each other; raises ValueError."""
        if self.n_retains == 0 or self.n_retains < -1:
            raise ValueError(
                "snapshot: expected n_retains of 1 or more, or -1 to keep all; "
                f"got {self.n_retains}."
            )
        if self.on_write_error not in _POLICIES:
            raise ValueError(
                f"snapshot: expected on_write_error 'raise' or 'warn', got {self.on_write_error!r}."
                + nearest(str(self.on_write_error), _POLICIES)
            )
        if self.writer is not None and self._savefun is not None:
            raise TypeError(
                "snapshot: expected savefun or writer, got both. Give savefun to the writer: "
                "snapshot_writers.ThreadWriter(savefun)."
            )
        if self.writer is not None and self.n_retains > 0 and not self._writer_tells():
            raise ValueError(
                "snapshot: n_retains needs a writer that says when a file stands: expected one "
                f"derived from snapshot_writers.Writer, got {self.writer!r:.60}."
            )
        if callable(self.filename) and (self.autoload or self.n_retains > 0):
            raise ValueError(
                "snapshot: autoload and n_retains need to find earlier snapshots by their names. "
                "Give filename as a format string, such as 'snapshot_iter_{.updater.iteration}'."
            )
        if (self.autoload or self.n_retains > 0) and "{" in str(Path(str(self.filename)).parent):
            raise ValueError(
                "snapshot: autoload and n_retains need to find earlier snapshots in one directory. "
                f"Leave the fields out of the directory's name, in {str(self.filename)!r}."
            )
        if self.autoload and self._load() is None:
            raise ValueError(
                "snapshot: autoload reads what save_npz and save_hdf5 have written. Leave savefun "
                "out, or pass the function that loads as autoload: autoload=load, for load(path, "
                "object)."
            )

    def _writer_tells(self) -> bool:
        return isinstance(self.writer, snapshot_writers.Writer)

    def _load(self) -> Load | None:
        """What loads the files that are saved here."""
        if callable(self.autoload):
            return self.autoload
        save = self._save_function()
        return load_npz if save is None else _LOAD.get(save)

    def _save_function(self) -> Any:
        """What saves, without its arguments; None where a writer does not say."""
        save: Any = self._savefun or save_npz
        if self.writer is not None:
            save = getattr(self.writer, "_savefun", None)
        while isinstance(save, functools.partial):
            save = save.func
        return save

    def initialize(self, trainer: Loop) -> None:
        """Clean up after a killed run, and load its newest good snapshot if `autoload` is set."""
        self._agree_with_others(trainer)
        directory = Path(trainer.out)
        if not callable(self.filename):
            directory = self._path(trainer).parent
            directory.mkdir(parents=True, exist_ok=True)
        remove_stale_temporaries(directory)
        if isinstance(self.writer, snapshot_writers.Writer):
            self.writer.after_save = [self._stands]
        if self.autoload:
            self._load_newest(trainer)
        if getattr(trainer, "is_resumed", False):
            self._saved_at = trainer.updater.iteration

    def _agree_with_others(self, trainer: Loop) -> None:
        """Know files of snapshots of the same name as one's own; ValueError for another target."""
        for _, entry in trainer.extension_order():
            other = entry.extension
            if not isinstance(other, Snapshot) or str(other.filename) != str(self.filename):
                continue
            if other._target is not self._target:
                raise ValueError(
                    "snapshot: expected a filename for each target, got two of which each is saved "
                    f"over the other as {str(self.filename)!r}. Give one of them another filename."
                )
            self._written = other._written

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """The snapshots that are there, with their runs."""
        if callable(self.filename):
            return
        name = str(self.filename)
        directory = Path(trainer.out) / Path(name).parent
        if "{" not in str(directory) and directory.is_dir():
            for path in snapshot_files.found(directory, name):
                loaded = self._target is None and path == self._loaded
                yield path, trainer.run_id if loaded else snapshot_files.run_of(path)

    def __call__(self, trainer: Loop) -> None:
        """Save, then remove what is not to be kept."""
        if self.is_due():
            self.save(trainer)

    def is_due(self) -> bool:
        """Whether to save this time, as `condition` says."""
        return self.condition is None or bool(self.condition())

    def saved_of(self, trainer: Loop) -> Any:
        """What is saved of a training: all of it, or the target."""
        return trainer if self._target is None else self._target

    def save(self, trainer: Loop) -> None:
        """Save now, then remove what is not to be kept."""
        path = self._path(trainer)
        self._run = getattr(trainer, "run_id", None)
        self._keep_another_runs(path, trainer)
        target = self._labelled(self.saved_of(trainer))
        if self._guarded(lambda: self._save(path, target)):
            self._saved_at = trainer.updater.iteration

    def _labelled(self, target: Any) -> Any:
        """What is saved, with its run and the moment where earlier files are looked for."""
        looks = self._target is None or self.n_retains > 0 or self.autoload
        if looks and self._run is not None and self._save_function() in _LOAD:
            return {RUN: self._run, WRITTEN: time.time(), **entries_of("snapshot", target)}
        return target

    def _keep_another_runs(self, path: Path, trainer: Loop) -> None:
        """Move a file of another run out of the way, which has come, or got its name, meanwhile."""
        unknown = getattr(trainer, "is_resumed", False)
        if path.exists() and not self._is_own(path, unknown):
            trainer.set_aside([path])

    def _is_own(self, path: Path, unknown: bool = False) -> bool:
        """Whether this run wrote the file; `unknown` answers where nothing tells."""
        run = snapshot_files.run_of(path)
        return path in self._written or unknown if run is None else run == self._run

    def _save(self, path: Path, target: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)  # which may be new each time
        if self.writer is not None:
            self.writer(path.name, path.parent, entries_of("snapshot", target))
            return
        if self._savefun is None:
            save_npz(path, target)
        else:
            with replacing(path) as temporary:
                self._savefun(temporary, target)
        self._stands(path)

    def _stands(self, path: Path) -> None:
        """Note that the file is complete, and remove what is not to be kept."""
        self._newest = path
        self._written.add(path)
        if self.n_retains > 0:
            snapshot_files.remove_old(path, str(self.filename), self.n_retains, self._is_own)

    def _guarded(self, write: Callable[[], Any]) -> bool:
        """Write, and say whether that went well; a failure is what `on_write_error` says."""
        try:
            write()
        except OSError as error:
            if self.on_write_error == "raise":
                raise
            place.warn(f"snapshot: not saved, training goes on without it: {error}")
            return False
        return True

    def on_error(self, trainer: Loop, exc: Exception, tb: TracebackType | None) -> None:
        """Save the state in which the error occurred, if this is enabled.

        Not over that of the end of the iteration: half of a step has been made since then.
        """
        if self.snapshot_on_error and self._saved_at != trainer.updater.iteration:
            self(trainer)

    def on_interrupt(self, trainer: Loop) -> None:
        """Save the state to resume from, unless it is disabled."""
        if self.snapshot_on_interrupt:
            self(trainer)

    def how_to_resume(self, trainer: Loop) -> str | None:
        """Name the newest file, and what loads it."""
        if self._newest is None:
            return None
        saved = f"Saved: {self._newest}."
        if self._target is not None:
            return saved
        if self.autoload:
            return f"{saved} Start the program again to go on from there."
        load = self._load()
        if load is None:
            return f"{saved} To go on from there, load it before training begins."
        return (
            f"{saved} To go on from there, call core.serializers.{load.__name__}("
            f"{str(self._newest)!r}, {type(trainer).__name__.lower()}) before training begins, or "
            "pass autoload=True to extensions.snapshot, or resume=True to training.fit, and start "
            "the program again."
        )

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what each rank has of its own, where several train together.

        That is its random numbers, and its place in its part of the data.
        """
        if isinstance(serializer, Deserializer):
            self.random_states = json.loads(str(serializer.optional_value("ranks", "[]")))
            names = json.loads(str(serializer.optional_value("places", "[]")))
            self.places = [
                {name: serializer[str(rank)].optional_value(name, None) for name in known}
                for rank, known in enumerate(names)
            ]
            return
        if self.random_states:
            serializer("ranks", json.dumps(self.random_states))
        if self.places:
            serializer("places", json.dumps([[*own] for own in self.places]))
        for rank, own in enumerate(self.places):
            for name, value in own.items():
                serializer[str(rank)](name, value)

    def finalize(self) -> None:
        """Wait for what is being written in the background."""
        finalize = getattr(self.writer, "finalize", None)
        if finalize is not None:
            self._guarded(finalize)

    def _path(self, trainer: Loop) -> Path:
        name = self.filename
        if callable(name):
            return Path(trainer.out) / name(trainer)
        try:
            return Path(trainer.out) / name.format(trainer)
        except (AttributeError, LookupError, ValueError) as error:
            raise ValueError(
                f"snapshot: expected filename {name!r} to be a format string of the trainer, such "
                f"as 'snapshot_iter_{{.updater.iteration}}': {error}"
            ) from error

    def _load_newest(self, trainer: Loop) -> None:
        load: Any = self._load()
        found = snapshot_files.found(self._path(trainer).parent, str(self.filename))
        for path in reversed(found):
            try:
                load(path, trainer if self._target is None else self._target)
            except CheckpointDamaged as error:
                snapshot_files.put_aside(path, error)
            except CheckpointError as error:
                error.add_note(_OTHER_TRAINING)
                raise
            else:
                self._loaded = path
                print(f"Resumed from {path}", file=sys.stderr)
                return
        if found:
            raise CheckpointError(
                f"snapshot: expected a good snapshot in {trainer.out}, but all {len(found)} are "
                "damaged; they were put aside. Run again to start from the beginning."
            )
