"""Writers of snapshots: who writes the file, and whether training waits for it.

    trainer.extend(extensions.snapshot(writer=extensions.snapshot_writers.ThreadWriter()))

| writer | where the file is written | training waits |
|---|---|---|
| `SimpleWriter` | here | for the file |
| `ThreadWriter` | in a thread | for the file before, where that is not finished yet |
| `ProcessWriter` | in a process of its own | as for ThreadWriter |
| `ThreadQueueWriter` | in one thread, one after the other | never |
| `ProcessQueueWriter` | in one process, one after the other | never |

What is written is the state at the moment of the call, whatever changes meanwhile: arrays are
copied. A file appears complete or not at all, and older snapshots are removed when it stands. What
goes wrong in the background is raised by the next call, or by `finalize`, which waits for the rest.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.errors.set_by_init import NeedsInit
from plugins.processes.signals import leave_signals, signals_wait
from plugins.serializers.atomic import replacing
from plugins.serializers.npz import save_npz

Save = Callable[..., Any]
Entries = Mapping[str, Any]


class Writer(NeedsInit):
    """Base of writers: called with a file name, a directory and a dict of host arrays.

    The functions in `after_save` are called with the path of every file that has been written.
    """

    def __init__(self) -> None:
        self.after_save: list[Callable[[Path], Any]] = []

    def __call__(self, filename: str, outdir: str | os.PathLike[str], target: Entries) -> None:
        """Write `target`, or see to it that it is written."""
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method __call__(self, filename, outdir, target)."
        )

    def save(
        self,
        filename: str,
        outdir: str | os.PathLike[str],
        target: Entries,
        savefun: Save,
        **kwds: Any,
    ) -> None:
        """Let `savefun(path, target, **kwds)` write a file that takes its place as a whole."""
        path = Path(outdir) / filename
        if savefun is save_npz:  # which does the same by itself
            savefun(path, target, **kwds)
        else:
            with replacing(path) as temporary:
                savefun(temporary, target, **kwds)
        for function in self.after_save:
            function(path)

    def finalize(self) -> None:
        """Wait for what is being written; raise what went wrong."""


class SimpleWriter(Writer):
    """Write at once, by `savefun(path, target, **kwds)`.

    >>> import numpy as np, os, tempfile
    >>> directory = tempfile.mkdtemp()
    >>> SimpleWriter(compression=False)("snapshot", directory, {"epoch": np.array(3)})
    >>> os.listdir(directory)
    ['snapshot']
    """

    def __init__(self, savefun: Save = save_npz, **kwds: Any) -> None:
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds

    def __call__(self, filename: str, outdir: str | os.PathLike[str], target: Entries) -> None:
        """Write `target`."""
        self.save(filename, outdir, target, self._savefun, **self._kwds)


class StandardWriter(Writer):
    """Base of writers with a worker for each file: something with `start()` and `join()`."""

    def __init__(self, savefun: Save = save_npz, **kwds: Any) -> None:
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds
        self._worker: Any = None

    def __call__(self, filename: str, outdir: str | os.PathLike[str], target: Entries) -> None:
        """Wait for the worker before, and start one for this file."""
        self.finalize()
        worker = self.create_worker(filename, outdir, _copied(target), **self._kwds)
        worker.start()
        self._worker = worker

    def create_worker(
        self, filename: str, outdir: str | os.PathLike[str], target: Entries, **kwds: Any
    ) -> Any:
        """The worker that writes a file."""
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method "
            "create_worker(self, filename, outdir, target, **kwds)."
        )

    def finalize(self) -> None:
        """Wait for the worker; raise what went wrong."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.join()


class ThreadWriter(StandardWriter):
    """Write in a thread while training continues."""

    def create_worker(
        self, filename: str, outdir: str | os.PathLike[str], target: Entries, **kwds: Any
    ) -> Any:
        """A thread that writes a file."""
        return _Thread(lambda: self.save(filename, outdir, target, self._savefun, **kwds))


class ProcessWriter(StandardWriter):
    """Write in a separate process, in which `savefun` must be importable by its name.

    Starting one takes a good part of a second, and the state is sent to it: ThreadWriter is less
    work where `savefun` leaves Python to others while it computes, as `save_npz` does. As with all
    processes, a script needs `if __name__ == '__main__':` around what it does.
    """

    def create_worker(
        self, filename: str, outdir: str | os.PathLike[str], target: Entries, **kwds: Any
    ) -> Any:
        """A thread that has a process write a file."""
        savefun = _InProcess(self._savefun)

        def work() -> None:
            try:
                self.save(filename, outdir, target, savefun, **kwds)
            finally:
                savefun.finalize()

        return _Thread(work)


class QueueWriter(Writer):
    """Base of writers that put files in a queue; `task(filename, outdir, target)` writes one.

    The queue and its consumer are made when first needed.
    """

    def __init__(self, savefun: Save = save_npz, task: Callable[..., Any] | None = None) -> None:
        super().__init__()
        self._savefun = savefun
        self._task = self.create_task(savefun) if task is None else task
        self._queue: Any = None
        self._consumer: Any = None
        self._errors: list[BaseException] = []

    def __call__(self, filename: str, outdir: str | os.PathLike[str], target: Entries) -> None:
        """Put a file in the queue."""
        self._raise()
        if self._consumer is None:
            self._queue = self.create_queue()
            self._consumer = self.create_consumer(self._queue)
            self._consumer.start()
        self._queue.put((self._task, filename, outdir, _copied(target)))

    def create_task(self, savefun: Save) -> Callable[..., Any]:
        """What writes a file, when its turn has come."""

        def task(filename: str, outdir: str | os.PathLike[str], target: Entries) -> None:
            self.save(filename, outdir, target, savefun)

        return task

    def create_queue(self) -> Any:
        """The queue."""
        raise NotImplementedError(f"{type(self).__name__}: expected a method create_queue(self).")

    def create_consumer(self, q: Any) -> Any:
        """The worker that calls `consume(q)`."""
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method create_consumer(self, q)."
        )

    def consume(self, q: Any) -> None:
        """Write what is in the queue until None comes; one failure does not stop the others."""
        while (item := q.get()) is not None:
            task, *rest = item
            try:
                task(*rest)
            except Exception as error:
                self._errors.append(error)
            del item, rest  # which hold a copy of the model while there is nothing to do

    def finalize(self) -> None:
        """Wait until the queue is empty; raise what went wrong first."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            self._queue.put(None)
            consumer.join()
        self._raise()

    def _raise(self) -> None:
        errors, self._errors = self._errors, []
        if errors:
            raise errors[0]


class ThreadQueueWriter(QueueWriter):
    """Write one file after the other in a thread; training never waits."""

    def create_queue(self) -> Any:
        """A queue between threads."""
        return queue.SimpleQueue()

    def create_consumer(self, q: Any) -> Any:
        """A thread that empties the queue."""
        return threading.Thread(target=self.consume, args=(q,), daemon=True)


class ProcessQueueWriter(ThreadQueueWriter):
    """Write one file after the other in one process; training never waits.

    What ProcessWriter says of processes holds here too, but that this one is started only once.
    """

    def create_task(self, savefun: Save) -> Callable[..., Any]:
        """What has the process write a file."""
        self._process = _InProcess(savefun)
        return super().create_task(self._process)

    def finalize(self) -> None:
        """Wait until the queue is empty, and end the process; raise what went wrong first."""
        try:
            super().finalize()
        finally:
            if hasattr(self, "_process"):
                self._process.finalize()


# -- in the background ------------------------------------------------------------------------


def _copied(target: Entries) -> dict[str, Any]:
    return {name: np.array(value) for name, value in target.items()}


class _Thread(threading.Thread):
    """A thread whose `join` raises what its work raised."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._error = error
        finally:
            del self._work  # and with it the copy of the model

    def join(self, timeout: float | None = None) -> None:
        super().join(timeout)
        error, self._error = self._error, None
        if error is not None:
            raise error


class _InProcess:
    """`savefun`, called in a process that starts with the first call and ends with `finalize`.

    The process ends by itself when this one is killed, after the file that it is writing.
    """

    def __init__(self, savefun: Save) -> None:
        self._savefun = savefun
        self._process: Any = None
        self._ours: Any = None

    def __call__(self, path: Path, target: Entries, **kwds: Any) -> None:
        if self._process is None:
            self._start()
        try:
            self._ours.send((path, dict(target), kwds))
            error = self._ours.recv()
        except (EOFError, OSError) as broken:
            process = self._process
            self.finalize()
            raise RuntimeError(
                f"snapshot: the process that writes ended (exit code {process.exitcode}) before "
                "the file was complete. See what it has printed; a script that uses processes "
                "needs `if __name__ == '__main__':` around what it does. ThreadWriter needs none."
            ) from broken
        if error is not None:
            raise error

    def _start(self) -> None:
        # A fork copies locks held elsewhere; a server of forks may end by a SIGTERM for all.
        context: Any = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._savefun, theirs), daemon=True)
        with signals_wait():
            process.start()
        theirs.close()
        self._process = process
        atexit.register(self._ours.close)  # before multiprocessing waits for the process

    def finalize(self) -> None:
        if self._process is not None:
            atexit.unregister(self._ours.close)
            self._ours.close()
            self._process.join()
            self._process = None


def _serve(savefun: Save, requests: Any) -> None:
    """Write what is asked for until nobody can ask any more."""
    leave_signals()
    while True:
        try:
            path, target, kwds = requests.recv()
        except (EOFError, OSError):
            return
        try:
            savefun(path, target, **kwds)
            answer = None
        except Exception as error:
            answer = error if _can_be_sent(error) else RuntimeError(repr(error))
        del target
        try:
            requests.send(answer)
        except OSError:
            return


def _can_be_sent(error: Exception) -> bool:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True
