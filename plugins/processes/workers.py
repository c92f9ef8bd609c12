"""Worker processes: how they begin, do what they are asked, and end.

Nothing is left behind: not when they are closed or forgotten, not when one of them or the main
process is killed. Nothing waits for ever either: a worker that does not end in time is killed.
What remains where all are killed at once is removed by who comes next: see `folders`.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from multiprocessing import connection
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import CoreError
from plugins.processes import worker
from plugins.processes.folders import private_folders, remove
from plugins.processes.ipc import Maps, Memory, receive, release
from plugins.processes.signals import signals_wait

_IMPORTER = os.getpid()
_GRACE = 1.0  # seconds that workers have to finish what they are at when they are closed
_SERVER_DIED = 255  # the exit code that multiprocessing gives where the server of forks has ended

Answer = futures.Future[bytes | str]


class WorkerDied(CoreError, RuntimeError):
    """A worker process ended that should not have; the message says how, and what to do."""


class WorkersTerminated(WorkerDied):
    """The worker processes were asked to end, as by a SIGTERM for all processes of a job, and the
    main one may be finishing what it is at: new ones can help it.
    """


class Words(NamedTuple):
    """What errors say: whose workers they are, what they hold, and what does without them.

    A death ends them `during` something; where `memory` ran out, and `after` it, there is a cure.
    """

    owner: str
    held: str
    instead: str
    during: str
    memory: str
    after: str

    def unpicklable(self, error: Exception) -> TypeError:
        """The error where workers cannot be given what they should hold."""
        return TypeError(
            f"{self.owner}: expected {self.held} that can be pickled, to send to worker processes: "
            f"{error}. Define classes and functions at the top of a module and open files when "
            f"they are first read, or use {self.instead}."
        )


class Workers:
    """Processes that each hold something, in groups of `n`, and do what they are asked.

    One that is free in a group takes the next task of it. With `stay` they live through a SIGTERM
    that all processes of a job get, since the main one still needs them then; such groups have one
    process each, for one that has to end while another has died ends by SIGTERM.
    """

    def __init__(
        self, words: Words, groups: Sequence[tuple[int, worker.Held]], stay: bool = False
    ) -> None:
        self._words = words
        self._stay = stay
        self.folders = private_folders()
        self._memory, self._maps = Memory(2 * sum(n for n, _ in groups)), Maps()
        self._groups: list[_Group] = []
        self.close = weakref.finalize(self, _close, os.getpid(), self._groups, self.folders)
        _open.add(self)
        for i, (n, held) in enumerate(groups):
            name = f"worker process {i + 1}" if stay else "a worker process"
            processes: list[Any] = []
            executor = futures.ProcessPoolExecutor(
                n, _context(processes, stay), worker.start, (held, name, self.folders, stay)
            )
            self._groups.append(_Group(name, executor, processes))

    def start(self) -> None:
        """Start a process in each group, which gets ready; the first call would do so otherwise."""
        for i in range(len(self._groups)):
            self._submit(i, worker.get_ready)

    def ask(self, group: int, method: str, *arguments: Any, shared: int | None = None) -> Answer:
        """Have a method called by a worker; of its answer `shared` bytes may go in shared memory.

        Raises WorkerDied where none is left, TypeError where what it holds cannot be pickled.
        """
        return self._submit(group, worker.call, method, arguments, shared)

    def _submit(self, group: int, function: Callable[..., Any], *arguments: Any) -> Answer:
        if not self.close.alive:
            raise WorkerDied(
                f"{self._words.owner}: the worker processes have ended. {self._words.after}"
            )
        try:
            with signals_wait() if self._stay else nullcontext():
                return self._groups[group].executor.submit(function, *arguments)
        except (BrokenProcessPool, ConnectionError, EOFError) as error:
            # From Python 3.14 on the server of forks imports the script, and may end with it.
            raise self._died(group) from error
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            self.close()
            raise self._words.unpicklable(error) from error

    def hear(self, answer: Answer, group: int = 0) -> Any:
        """Wait for an answer; raises what the method has raised, with notes that say where."""
        try:
            found = receive(answer.result(), self._memory, self._maps)
        except BrokenProcessPool as error:
            raise self._died(group) from error
        if isinstance(found, worker.Failure):
            raise found.error()
        return found

    def discard(self, answer: Answer) -> None:
        """Give up an answer. It is made all the same, for a worker may die meanwhile, and
        the executor would stumble over what has been cancelled when it tells all that wait.
        """
        answer.add_done_callback(_release_unread)

    def retire(self) -> None:
        """Take no more tasks; the workers end when they have finished those they have."""
        for group in self._groups:
            group.executor.shutdown(wait=False)

    def _died(self, number: int) -> WorkerDied:
        # The executor terminates all that live on, and must be the only one that looks at them:
        # how a process ended can be read once. Then what was not its doing tells what came first.
        group = self._groups[number]
        stuck = threading.Timer(_GRACE, _kill, [group.processes])
        stuck.start()
        group.executor.shutdown(wait=True)
        stuck.cancel()
        codes = {process.exitcode for process in group.processes}
        code = next(iter(codes - {None, 0, -signal.SIGTERM}), None)
        how, cure = self._reason(code)
        self.close()
        words = self._words
        return (WorkersTerminated if code in (None, _SERVER_DIED) else WorkerDied)(
            f"{words.owner}: {group.name} ended{how} {words.during}. {cure} {words.after}"
        )

    def _reason(self, code: int | None) -> tuple[str, str]:
        if code is not None and code == -getattr(signal, "SIGKILL", 9):
            return " (SIGKILL)", (
                f"The system kills processes when memory runs out: {self._words.memory}."
            )
        if code is not None and code < 0:
            return f" ({signal.Signals(-code).name})", (
                "A library that it uses may have crashed: `python -X faulthandler` shows where."
            )
        return "" if code is None else f" (exit code {code})", (
            "See what it has printed. A script that uses processes needs "
            "`if __name__ == '__main__':` around what it does, as each of them imports it."
        )


class _Group(NamedTuple):
    name: str
    executor: futures.ProcessPoolExecutor
    processes: list[Any]


def _context(started: list[Any], stay: bool) -> Any:
    """How processes are started: never by fork, which copies locks that threads hold.

    Nor by a server of forks where they are to stay, unless the user says so: a SIGTERM for all
    processes of a job ends it, and then its children count as dead. Nor in a fork, whose parent may
    have such a server, which serves nobody else. Every process is put into
    `started`, for the executor does not tell of those it has.
    """
    method = multiprocessing.get_start_method(allow_none=True)
    if method in (None, "fork"):
        known = multiprocessing.get_all_start_methods()
        served = "forkserver" in known and not stay and os.getpid() == _IMPORTER
        method = "forkserver" if served else "spawn"
    shared = multiprocessing.get_context(method)
    context: Any = type(shared)()

    def process(*args: Any, **kwargs: Any) -> Any:
        made = shared.Process(*args, **kwargs)  # type: ignore[attr-defined]
        started.append(made)
        return made

    context.Process = process
    return context


def _close(owner: int, groups: Sequence[_Group], folders: Sequence[Path]) -> None:
    if os.getpid() != owner:  # a fork of the owner is about to end
        return
    for group in groups:
        group.executor.shutdown(wait=False, cancel_futures=True)
    end = time.monotonic() + _GRACE
    begun = [process for group in groups for process in group.processes if process.pid is not None]
    try:
        while (left := end - time.monotonic()) > 0 and (alive := _alive(begun)):
            connection.wait([process.sentinel for process in alive], left)
    finally:  # also where a second Ctrl-C is not going to wait
        _kill(_alive(begun))
        for process in begun:
            process.join()
        remove(folders)


def _kill(processes: Sequence[Any]) -> None:
    for process in processes:
        process.kill()


def _alive(processes: Sequence[Any]) -> list[Any]:
    return [process for process in processes if process.is_alive()]


def _release_unread(answer: Answer) -> None:
    if not answer.cancelled() and answer.exception() is None:
        sent = answer.result()
        if isinstance(sent, str):
            release(Path(sent))


_open: weakref.WeakSet[Workers] = weakref.WeakSet()


def _close_all() -> None:
    for workers in list(_open):
        workers.close()


# When a program ends, executors wait for what their workers are at, for ever if that hangs, and
# only then `atexit` has its turn. What they use themselves runs before them, being younger.
getattr(threading, "_register_atexit", atexit.register)(_close_all)
