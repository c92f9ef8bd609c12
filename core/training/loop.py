"""The training loop around its steps: extensions, observation, signals, saved state."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from core.arrays import backend
from core.errors import place
from core.errors.set_by_init import set_by_init
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import results, summary
from core.training.extended import call, naming
from core.training.interruption import Interruption
from core.training.plan import Plan
from core.training.ranks import share_out
from core.training.reporter import Reporter, loaded_observation, saved_observation
from core.training.trigger import TriggerSpec
from core.training.updater import Updater
from core.training.used import tell_of_used

_NOTHING_SAVED = (
    "Nothing is saved to go on from. With the extension extensions.snapshot() there would be."
)


class Loop(Plan):
    """Base of `Trainer` and `Run`: everything except the steps.

    `run_id` names the run in its snapshots, and stays the same when it `is_resumed` from one.
    """

    agree_on_signal: Callable[[signal.Signals | None], signal.Signals | None] | None = None
    """Makes of the signal that came here the one that came to any rank; asked before each step."""

    _started_at: float | None = set_by_init()

    def __init__(
        self,
        updater: Updater,
        stop_trigger: TriggerSpec = None,
        out: str | os.PathLike[str] = "result",
        extensions: Iterable[Any] | None = None,
    ) -> None:
        super().__init__(updater, stop_trigger, out)
        self.observation: dict[str, Any] = {}
        self.reporter = Reporter()
        for name, optimizer in updater.get_all_optimizers().items():
            self.reporter.add_observer(name, optimizer.target)
            self.reporter.add_observers(name, optimizer.target.namedlinks(skipself=True))
        self._started_at = None
        self._elapsed_before = 0.0
        self._elapsed_in_all: float | None = None
        self._random_state: dict[str, Any] | None = None
        self.run_id = os.urandom(8).hex()
        self.is_resumed = False
        self._run_is_told = True
        self._aside: Path | None = None
        self._left: list[str] = []  # extensions to be asked in this iteration, in their order
        updater.connect_trainer(self)
        for extension in extensions or ():
            self.extend(extension)

    @property
    def elapsed_time(self) -> float:
        """Seconds of training, including those before an interruption.

        Raises RuntimeError before the run has begun.
        """
        if self._elapsed_in_all is not None:
            return self._elapsed_in_all
        if self._started_at is None:
            raise RuntimeError(
                f"{type(self).__name__}.elapsed_time: training has not begun; call run() first."
            )
        return time.perf_counter() - self._started_at + self._elapsed_before

    def __repr__(self) -> str:
        return summary.text(self)

    def _repr_html_(self) -> str:
        return summary.html(self)

    # -- the loop ----------------------------------------------------------------------------

    @contextmanager
    def _session(self, show_loop_exception_msg: bool = True) -> Iterator[None]:
        """Everything before the first step and after the last one."""
        if self._started_at is not None:
            raise RuntimeError(
                f"{type(self).__name__}: expected one that has not run yet. Make a new one to "
                "train on."
            )
        _make_directory(type(self).__name__, self.out)
        self._order, self._has_begun = self.extension_order(), True
        self._started_at = time.perf_counter()
        stopped, ended_by = "", None
        with Interruption() as self._interruption:
            try:
                self._initialize()
                yield
                if self._is_interrupted():
                    self._interrupt()
                    stopped = getattr(self._interruption.received, "name", "")
            except BaseException as error:
                ended_by = error
                if isinstance(error, Exception):
                    self._tell_error(error, show_loop_exception_msg)
                elif isinstance(error, KeyboardInterrupt):
                    stopped = "KeyboardInterrupt"
                raise
            finally:
                self._finalize(ended_by)
                ended_by = None  # whose traceback holds this frame
                if stopped:  # told last: by now all that is saved in the background stands
                    self._tell_stopped(stopped)

    def _initialize(self) -> None:
        if self.communicator is not None:
            self._order = share_out(self, self.communicator)
        for name, entry in self._order:
            with naming(name, "initialize"):
                call(entry.extension, "initialize", self)
        if self.communicator is not None:  # one rank alone may have loaded a snapshot
            self.communicator.compare("iteration to begin at", self.updater.iteration)
        self._set_aside_earlier_results()
        self._call_before_training()
        is_first = self.communicator is None or self.communicator.rank == 0
        tell_of_used(self, is_first and not self.is_resumed)
        if self.is_resumed and is_first:
            self._tell_of_changes()
        # A snapshot may have been loaded long ago, or by an extension: what was drawn since then
        # must not change what the resumed run draws.
        if self._random_state is not None:
            backend.set_random_state(self._random_state)

    def _call_before_training(self) -> None:
        """Call the extensions that ask for it, which observe what they report to each other."""
        saved, self.observation = self.observation, {}
        with self.reporter.scope(self.observation):
            for name, entry in self._order:
                if entry.call_before_training:
                    with naming(name, "__call__"):
                        entry.extension(self)
        self.observation = saved  # the stop trigger is asked about the step before

    def _tell_of_changes(self) -> None:
        """Warn of hyper-parameters, and of what is frozen, that the snapshot has otherwise.

        Schedules have set theirs by now. A function that changed them, in the run that was saved,
        is not asked to do so again.
        """
        for name, optimizer in self.updater.get_all_optimizers().items():
            changed: list[str] = getattr(optimizer, "changed_since_saved", list)()
            if changed:
                place.warn(
                    f"{type(self).__name__}: the optimizer {name!r} goes on with "
                    f"{', '.join(changed)}. If the run had changed that itself, let it be done "
                    "again before the first update, or by a schedule such as ExponentialShift, "
                    "which is saved."
                )

    def _set_aside_earlier_results(self) -> None:
        """Keep the results of another run, which this one would replace, and say so."""
        found: dict[Path, str | None] = {}
        for name, entry in self._order:
            with naming(name, "files_in_the_way"):
                ask = getattr(entry.extension, "files_in_the_way", None)
                if ask is not None and getattr(entry.extension, "leads", True):
                    found.update(ask(self))
        runs = set(found.values())
        # Files that do not tell their run are this one's where some are that do.
        here = self.run_id in runs or not self._run_is_told
        if self.is_resumed and here and runs <= {None, self.run_id}:
            return
        out = Path(self.out)
        files = [path for path, run in found.items() if run != self.run_id and out in path.parents]
        if files:
            self.set_aside(files)

    def set_aside(self, files: list[Path]) -> None:
        """Move files of another run from `out` into their own directory, and report it.

        All that this run finds goes to one directory, unless names occur twice.
        """
        self._aside = results.set_aside(self.out, files, self._aside)
        place.warn(results.told(type(self).__name__, self.out, self._aside, files))

    def _turns(self) -> Generator[None, None, None]:
        """Once for each step: whoever asks for the next one has made it."""
        # Asked first: what the stop trigger remembers is then as in any snapshot. A resumed run
        # asks it about the observation that was saved, when the extensions that were left, behind
        # the snapshot or from the one that raised on, have been called.
        with self.reporter.scope(self.observation):
            self._call_those_left()
        while not self._is_interrupted() and not self.stop_trigger(self):
            self.observation = {}
            with self.reporter.scope(self.observation):
                yield
                self._left = [name for name, _ in self._order]
                self._call_those_left()

    def _call_those_left(self) -> None:
        """Call the extensions that are left in this iteration, where their triggers fire."""
        known = dict(self._order)
        while self._left:
            name = self._left.pop(0)  # what a snapshot saves is left behind it
            entry = known.get(name)
            try:
                with naming(name, "__call__"):
                    if entry is not None and entry.trigger(self):
                        entry.extension(self)
            except BaseException:
                self._left.insert(0, name)
                raise

    def _is_interrupted(self) -> bool:
        """Whether a signal asks the run to end, on any of several ranks."""
        received = self._interruption.received
        if self.agree_on_signal is not None:
            received = self.agree_on_signal(received)
            self._interruption.received = received or self._interruption.received
        return received is not None

    def _interrupt(self) -> None:
        for name, entry in self._order:
            with naming(name, "on_interrupt"):
                call(entry.extension, "on_interrupt", self)

    def _tell_stopped(self, by: str) -> None:
        """Say what ended the run, what is saved of it, and how to go on."""
        ways = []
        for _, entry in self._order:
            how_to_resume = getattr(entry.extension, "how_to_resume", None)
            if how_to_resume and getattr(entry.extension, "leads", True):
                ways.append(how_to_resume(self))
        known = " ".join(filter(None, ways)) or _NOTHING_SAVED
        if self.agree_on_signal is not None and self.communicator and self.communicator.rank:
            return  # the first rank tells, which has stopped as well
        with suppress(OSError, ValueError):  # the terminal may be what has gone
            print(
                f"{by}: training stopped after iteration {self.updater.iteration}. {known}",
                file=sys.stderr,
            )

    def _tell_error(self, error: Exception, show: bool) -> None:
        if show:
            with suppress(OSError, ValueError):
                print(
                    f"Training stopped by {type(error).__name__}{self._where()}: {error}\n"
                    "Extensions and updater are finalized, then the error is raised again.",
                    file=sys.stderr,
                )
        for name, entry in self._order:
            try:
                call(entry.extension, "on_error", self, error, error.__traceback__)
            except Exception as another:
                error.add_note(f"on_error of extension {name!r} raised {another!r} as well.")

    def _finalize(self, ended_by: BaseException | None) -> None:
        """Finalize everything, even where one raises; the first error is raised at the end.

        Unless an error has ended the training: that is raised, with notes of the others.
        """
        self._elapsed_in_all = self.elapsed_time
        failures: list[Exception] = []
        for name, entry in self._order:
            try:
                with naming(name, "finalize"):
                    call(entry.extension, "finalize")
            except Exception as error:
                failures.append(error)
        try:
            self.updater.finalize()
        except Exception as error:
            failures.append(error)
        if failures and ended_by is None:
            raise failures[0]
        for failure in failures:
            if ended_by is not None:
                ended_by.add_note(f"Finalizing raised {failure!r} as well.")

    def _where(self) -> str:
        """Rank and machine, in a job of several ranks."""
        return "" if self.communicator is None else f" on {self.communicator.where}"

    # -- saving and resuming -----------------------------------------------------------------

    def collect(self) -> None:
        """Let what each rank has for itself go to the first one, whose state is to be saved.

        All ranks call this before `serialize` where one file is for all of them.
        """
        for name, entry in self._order:
            with naming(name, "collect"):
                call(entry.extension, "collect")

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load everything that the rest of the run depends on."""
        serializer.caution(
            "the states of triggers and extensions have other names here than in Chainer. From a "
            "snapshot of its trainer load the updater: load_npz(file, trainer.updater, "
            'path="updater/").'
        )
        self.updater.serialize(serializer["updater"])
        _serialize(self.stop_trigger, serializer.optional("stop_trigger"))
        for name, entry in self._entries.items():
            with naming(name, "serialize"):
                _serialize(entry.extension, serializer["extensions"][name])
                _serialize(entry.trigger, serializer["extension_triggers"].optional(name))
        left = json.loads(serializer.optional_value("left", json.dumps(self._left)))
        # The stop trigger is asked about the last step when the next one is due.
        observed = serializer("observation", saved_observation(self.observation))
        elapsed = serializer("_snapshot_elapsed_time", self._elapsed())
        self.run_id = str(serializer.optional_value("run_id", self.run_id))
        # Last, because loading may draw: parameters are initialized before they are filled.
        state = json.loads(serializer("random_state", json.dumps(backend.random_state())))
        if isinstance(serializer, Deserializer):
            self.is_resumed = True
            # Whatever the saved run was to be: past the length of this one it is over.
            call(self.stop_trigger, "count_from_beginning")
            self._run_is_told = not serializer.lacks("run_id")
            self.observation, self._left = loaded_observation(observed), left
            self._elapsed_before = float(elapsed)
            self.draw_on_from(state)

    def draw_on_from(self, state: dict[str, Any]) -> None:
        """Let the rest of the run draw its random numbers from this state on."""
        self._random_state = state
        backend.set_random_state(state)

    def _elapsed(self) -> float:
        return self._elapsed_before if self._started_at is None else self.elapsed_time


def _make_directory(who: str, out: str | os.PathLike[str]) -> None:
    """Make the directory of the results, and see that files can be written there."""
    try:
        os.makedirs(out, exist_ok=True)
        effective = os.access in os.supports_effective_ids
        if not os.access(out, os.W_OK | os.X_OK, effective_ids=effective):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(out))
    except OSError as error:
        error.add_note(
            f"{who}: the results go into {os.path.abspath(out)}, where nothing can be written. "
            "Choose another directory with out=..., or change the rights of this one."
        )
        raise


def _serialize(part: Any, serializer: AbstractSerializer) -> None:
    if hasattr(part, "serialize"):
        part.serialize(serializer)
