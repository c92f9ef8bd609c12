"""The worker processes of an updater: how they begin, answer, and end."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import time
import weakref
from collections.abc import Sequence
from multiprocessing import connection
from typing import Any

from plugins.iterators.worker_pool import WorkerDied
from plugins.training.helpers import signals_wait
from plugins.training.updaters.replica import Replica, serve

_GRACE = 2.0  # seconds that workers have to end by themselves


def context() -> Any:
    """How processes are started: never by fork, which copies locks that threads hold.

    Nor by a server of forks, unless the user says so: a SIGTERM for all processes of a job ends it,
    and then its children, who ignore the signal and are still needed, count as dead.
    """
    method = multiprocessing.get_start_method(allow_none=True)
    return multiprocessing.get_context("spawn" if method in (None, "fork") else method)


class Crew:
    """A process for each replica. It ends with `close`, with its owner, or with the program."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._workers: list[tuple[Any, Any]] = []  # process and pipe
        self.close = weakref.finalize(self, _end, os.getpid(), self._workers)
        # Before multiprocessing waits for all processes, which it does at exit as well.
        atexit.register(self.close)
        try:
            for replica in replicas:
                self._workers.append(_start(replica))
        except BaseException:
            self.close()
            raise

    def tell(self, method: str, *arguments: Any) -> None:
        """Have all replicas do something at the same time."""
        self._check_open()
        for number in range(len(self._workers)):
            self._send(number, (method, *arguments))

    def hear(self) -> list[Any]:
        """The answers of all; raises what a replica has raised, WorkerDied where one has gone."""
        answers: dict[int, Any] = {}
        while len(answers) < len(self._workers):
            for number in self._ready(answers):
                answers[number] = self._answer(number)
                if isinstance(answers[number], Exception):
                    self.close()
                    raise answers[number]
        return [answers[number] for number in range(len(answers))]

    def _ready(self, answered: dict[int, Any]) -> list[int]:
        """Those who have something to say, or have gone; waits for one at least."""
        waiting = {n: each for n, each in enumerate(self._workers) if n not in answered}
        handles = [(pipe, process.sentinel) for process, pipe in waiting.values()]
        found = connection.wait([handle for pair in handles for handle in pair])
        return [n for n, pair in zip(waiting, handles, strict=True) if {*pair} & {*found}]

    def ask_one(self, number: int, method: str, *arguments: Any) -> Any:
        """Have one replica do something, and wait for its answer."""
        self._check_open()
        self._send(number, (method, *arguments))
        return self._answer(number)

    def _check_open(self) -> None:
        if not self.close.alive:
            raise WorkerDied(
                "MultiprocessParallelUpdater: the worker processes have ended. Make a new updater, "
                "and resume from a snapshot."
            )

    def _send(self, number: int, message: tuple[Any, ...]) -> None:
        try:
            self._workers[number][1].send(message)
        except OSError:
            raise self._died(number) from None

    def _answer(self, number: int) -> Any:
        process, pipe = self._workers[number]
        connection.wait([pipe, process.sentinel])
        try:
            if not pipe.poll():
                raise EOFError
            return pipe.recv()
        except (EOFError, OSError):
            raise self._died(number) from None

    def _died(self, number: int) -> WorkerDied:
        process = self._workers[number][0]
        process.join(_GRACE)
        how, cure = _reason(process.exitcode)
        self.close()
        return WorkerDied(
            f"MultiprocessParallelUpdater: worker process {number + 1} ended{how} during an "
            f"update. {cure} The parameters are those of the last whole update; resume from a "
            "snapshot."
        )


def _start(replica: Replica) -> tuple[Any, Any]:
    here, there = multiprocessing.Pipe()
    process = context().Process(
        target=serve, args=(there, replica), name=f"replica {replica.number}"
    )
    try:
        with signals_wait():
            process.start()
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            "MultiprocessParallelUpdater: expected a model, an iterator and a converter that can "
            f"be pickled, to send them to worker processes: {error}. Define classes and functions "
            "at the top of a module, or use ParallelUpdater."
        ) from error
    finally:
        there.close()
    return process, here


def _reason(code: int | None) -> tuple[str, str]:
    if code is not None and code < 0:
        return f" ({signal.Signals(-code).name})", (
            "The system kills processes when memory runs out: give fewer devices or smaller "
            "batches. Otherwise a library may have crashed: `python -X faulthandler` shows where."
        )
    return "" if code is None else f" (exit code {code})", (
        "See what it has printed. A script that uses processes needs "
        "`if __name__ == '__main__':` around what it does, as each of them imports it."
    )


def _end(owner: int, workers: list[tuple[Any, Any]]) -> None:
    if os.getpid() != owner:  # a fork of the owner is about to end
        return
    for _, pipe in workers:
        try:
            pipe.send(None)
        except OSError:  # it has ended already
            continue
    end = time.monotonic() + _GRACE
    for process, pipe in workers:
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
        pipe.close()
        process.close()
    workers.clear()
