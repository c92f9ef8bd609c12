"""Worker processes that hold a dataset, and how they begin and end.

Nothing is left behind: not when the pool is closed or forgotten, not when a worker or the main
process is killed. Nothing waits for ever either: a worker that does not end in time is killed.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import shutil
import signal
import threading
import time
import warnings
import weakref
from collections.abc import Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from pathlib import Path
from typing import Any

from core.errors import CoreError
from plugins.iterators import worker
from plugins.iterators.exchange import (
    Maps,
    Memory,
    encode,
    private_folders,
    receive,
    release,
    write,
)
from plugins.iterators.positioned import located, say_where

_GRACE = 1.0  # seconds that a worker has to finish its example when the pool is closed


class WorkerDied(CoreError, RuntimeError):
    """A worker process ended that should not have; the message says how, and what to do."""


class DatasetError(CoreError, RuntimeError):
    """An error of a dataset in a worker process whose own class cannot be handed over."""


class TimeoutWarning(RuntimeWarning):
    """Examples have not arrived for as long as `dataset_timeout` says."""


class WorkerPool:
    """`n_processes` processes, each with its own copy of the dataset as it was at the beginning.

    The copies share the memory of the arrays in them until they write to it.
    """

    def __init__(self, dataset: Any, n_processes: int) -> None:
        self.dataset = dataset
        self._folders = private_folders()
        self._processes: list[Any] = []
        self._memory, self._maps = Memory(2 * n_processes), Maps()
        try:
            path = self._folders[-1] / "dataset"
            write(path, _encoded(dataset))
            self._executor = futures.ProcessPoolExecutor(
                n_processes, _context(self._processes), worker.start, (path, self._folders)
            )
        except BaseException:
            _remove(self._folders)
            raise
        self.close = weakref.finalize(
            self, _close, os.getpid(), self._executor, self._processes, self._folders
        )
        _open.add(self)

    def submit(
        self, indices: Sequence[int], key: tuple[int, ...] | None, shared: int | None
    ) -> futures.Future[bytes | str]:
        """Have examples loaded."""
        try:
            return self._executor.submit(worker.load, indices, key, shared)
        except BrokenProcessPool as error:
            raise self._died() from error

    def collect(self, future: futures.Future[bytes | str], timeout: float | None) -> list[Any]:
        """Wait for examples; warn whenever `timeout` seconds have passed."""
        while not futures.wait([future], timeout).done:
            warnings.warn(
                f"MultiprocessIterator: no examples for {timeout} seconds. The dataset is slow or "
                "waits for something: look at it with SerialIterator, or give dataset_timeout.",
                TimeoutWarning,
                stacklevel=5,
            )
        try:
            found = receive(future.result(), self._memory, self._maps)
        except BrokenProcessPool as error:
            raise self._died() from error
        if isinstance(found, worker.Failure):
            raise _error(found)
        return list(found)

    def discard(self, future: futures.Future[bytes | str]) -> None:
        """Want examples no more. They are loaded all the same, for a worker may die meanwhile, and
        the executor would stumble over what has been cancelled when it tells all that wait.
        """
        future.add_done_callback(_release_unread)

    def retire(self) -> None:
        """Take no more tasks; the workers end when they have finished those they have."""
        self._executor.shutdown(wait=False)

    def _died(self) -> WorkerDied:
        # The executor terminates all that live on, and must be the only one that looks at them:
        # how a process ended can be read once. Then what was not its doing tells what came first.
        self._executor.shutdown(wait=True)
        codes = {process.exitcode for process in self._processes}
        code = next(iter(codes - {None, 0, -signal.SIGTERM}), None)
        self.close()
        how, cure = _reason(code)
        return WorkerDied(
            f"MultiprocessIterator: a worker process ended{how} before its examples were loaded. "
            f"{cure} The batch has not been handed out; the next call starts new workers."
        )


def _reason(code: int | None) -> tuple[str, str]:
    if code is not None and code == -getattr(signal, "SIGKILL", 9):
        return " (SIGKILL)", (
            "The system kills processes when memory runs out: give fewer n_processes, a smaller "
            "n_prefetch, or a dataset that holds less."
        )
    if code is not None and code < 0:
        return f" ({signal.Signals(-code).name})", (
            "A library that the dataset uses may have crashed: SerialIterator shows where, with "
            "`python -X faulthandler`."
        )
    return "" if code is None else f" (exit code {code})", (
        "A script that uses processes needs `if __name__ == '__main__':` around what it does, as "
        "each of them imports it. Otherwise see what the worker has printed; MultithreadIterator "
        "needs no processes."
    )


def _encoded(dataset: Any) -> list[Any]:
    try:
        return encode(dataset)
    except Exception as error:
        raise TypeError(
            "MultiprocessIterator: expected a dataset that can be pickled, to send it to worker "
            f"processes; got {type(dataset).__name__}: {error}. Define its classes and functions "
            "at the top of a module and open files when they are first read, or use "
            "MultithreadIterator."
        ) from error


def _error(failure: worker.Failure) -> BaseException:
    """The error that a worker met, with notes that say where."""
    try:
        error: BaseException = pickle.loads(failure.error or b"")
    except Exception:
        error = DatasetError("an error that only its worker process can hold; see the notes")
    error = located(error, f"MultiprocessIterator: {failure.where}.")
    say_where(error, failure.traceback)
    return error


def _context(started: list[Any]) -> Any:
    """How processes are started: never by fork, which copies locks that threads hold.

    Every process is put into `started`, for the executor does not tell of those it has.
    """
    method = multiprocessing.get_start_method(allow_none=True)
    if method in (None, "fork"):
        known = multiprocessing.get_all_start_methods()
        method = "forkserver" if "forkserver" in known else "spawn"
    shared = multiprocessing.get_context(method)
    context: Any = type(shared)()

    def process(*args: Any, **kwargs: Any) -> Any:
        made = shared.Process(*args, **kwargs)  # type: ignore[attr-defined]
        started.append(made)
        return made

    context.Process = process
    return context


def _close(
    owner: int,
    executor: futures.ProcessPoolExecutor,
    processes: Sequence[Any],
    folders: Sequence[Path],
) -> None:
    if os.getpid() != owner:  # a fork of the owner is about to end
        return
    executor.shutdown(wait=False, cancel_futures=True)
    end = time.monotonic() + _GRACE
    begun = [process for process in processes if process.pid is not None]
    while (left := end - time.monotonic()) > 0 and (alive := _alive(begun)):
        connection.wait([process.sentinel for process in alive], left)
    for process in _alive(begun):
        process.kill()
    for process in begun:
        process.join()
    _remove(folders)


def _release_unread(future: futures.Future[bytes | str]) -> None:
    if not future.cancelled() and future.exception() is None:
        sent = future.result()
        if isinstance(sent, str):
            release(Path(sent))


def _alive(processes: Sequence[Any]) -> list[Any]:
    return [process for process in processes if process.is_alive()]


def _remove(folders: Sequence[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


_open: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _close_all() -> None:
    for pool in list(_open):
        pool.close()


# When a program ends, executors wait for what their workers are at, for ever if that hangs, and
# only then `atexit` has its turn. What they use themselves runs before them, being younger.
getattr(threading, "_register_atexit", atexit.register)(_close_all)
