"""Parts of an array in several threads: for loops that release the interpreter's lock.

Parts are cut by size and by the number of threads alone, so that what is summed over them repeats
to the bit. Who computes which is not fixed: the caller takes one part after the other beside the
workers, and so waits for a worker only that has begun one, however busy the machine is. Parts of
compiled loops are handed over without the interpreter (backends.numpy_backend.kernels.team).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

from core.registry.threads import num_threads


class _Job:
    """The parts of one call that are left, and the first error in them."""

    __slots__ = ("_done", "_error", "_function", "_left", "_lock", "_parts")

    def __init__(self, function: Callable[..., Any], parts: list[tuple[Any, ...]]) -> None:
        self._function = function
        self._parts = parts
        self._left = len(parts)
        self._lock = threading.Lock()
        self._done = threading.Lock()
        self._done.acquire()
        self._error: BaseException | None = None

    def work(self) -> None:
        """Compute parts as long as there are some."""
        while True:
            try:
                part = self._parts.pop()
            except IndexError:
                return
            try:
                self._function(*part)
            except BaseException as error:
                self._error = error
            with self._lock:
                self._left -= 1
                if not self._left:
                    self._done.release()

    def wait(self) -> None:
        """Return when every part is computed; raise what one of them raised."""
        self._done.acquire()
        if self._error is not None:
            raise self._error


class _Pool:
    """Threads that wait for jobs; more are started when more are needed."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._started = 0
        self._lock = threading.Lock()

    def run(self, job: _Job, workers: int) -> None:
        """Compute a job in this thread and at most so many others."""
        if self._started < workers:
            self._start(workers)
        for _ in range(min(workers, self._started)):
            self._jobs.put(job)
        job.work()
        job.wait()

    def _start(self, workers: int) -> None:
        with self._lock:
            while self._started < workers:
                thread = threading.Thread(target=self._serve, name="plugrad-loops", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # no more threads are to be had
                    return
                self._started += 1

    def _serve(self) -> None:
        while True:
            self._jobs.get().work()


_pool = _Pool()


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


SMALL = 16
"""Parts of the least size in work that takes less than waiting for a busy processor may."""


def count(size: int, least: int, parts_of_each: int = 2, threads: int | None = None) -> int:
    """Into how many parts `range(size)` is divided: of at least `least`, if there are several.

    There are two for each thread, so that one which is late is not waited for that long. All have
    as many, unless there are fewer parts than threads.
    """
    most = size // max(least, 1)
    if most < 2:
        return 1
    threads = threads or num_threads()
    if threads == 1 or most <= threads:
        return min(most, threads)
    return min(most // threads, parts_of_each) * threads


def bounds(size: int, least: int) -> list[int]:
    """Where these parts begin, and the end.

    >>> bounds(100, least=200)
    [0, 100]
    """
    parts = count(size, least)
    return [size * i // parts for i in range(parts + 1)]


def divide(function: Callable[..., Any], size: int, least: int, *args: Any) -> None:
    """Call `function(*args, start, stop)` for parts of `range(size)`, in threads.

    A part has at least `least` elements, unless there are fewer in all.
    """
    parts = count(size, least) if size >= 2 * least else 1
    if parts == 1:
        function(*args, 0, size)
        return
    small = size < SMALL * least
    if hasattr(function, "packing"):  # a compiled loop
        share(function, (*args, 0, size), parts, small=small)
    else:
        each(function, [(*args, i, j) for i, j in pairwise(bounds(size, least))], small=small)


class _Noted(threading.local):
    calls: list[tuple[Any, ...]] | None = None  # of the class: what no thread has set takes long


_noted = _Noted()


@contextmanager
def noted() -> Iterator[list[tuple[Any, ...]]]:
    """Within the block, what this thread gives to `share` is put into the list."""
    _noted.calls = []
    try:
        yield _noted.calls
    finally:
        _noted.calls = None


def share(
    loop: Any,
    arguments: tuple[Any, ...],
    parts: int,
    threads: int | None = None,
    small: bool = False,
) -> None:
    """Call a compiled loop, whose last arguments are 0 and a size, for so many parts of it."""
    notes = _noted.calls
    if notes is not None:
        notes.append((loop, arguments, parts, threads, small))
    workers = min(threads or num_threads(), parts) - 1 if parts > 1 else 0
    if workers < 1:
        loop(*arguments)
    else:
        from backends.numpy_backend.kernels import team

        pack = loop.packing(arguments)
        try:
            team.share(pack, arguments, parts, workers, small)
        except TypeError:  # arrays that loops do not take, of which nothing was computed
            team.share(pack, loop.readable(arguments), parts, workers, small)


def each(
    function: Callable[..., Any],
    parts: list[tuple[Any, ...]],
    threads: int | None = None,
    small: bool = False,
) -> None:
    """Call `function(*part)` for each part, in threads; small ones if these were idle lately."""
    workers = min(threads or num_threads(), len(parts)) - 1 if len(parts) > 1 else 0
    if workers < 1:
        for part in parts:
            function(*part)
        return
    if hasattr(function, "packing"):  # a compiled loop
        from backends.numpy_backend.kernels import team

        loop: Any = function
        packers = [loop.packing(part) for part in parts]
        try:
            team.run(packers, parts, workers, small)
        except TypeError:  # arrays that loops do not take, of which nothing was computed
            team.run(packers, [loop.readable(part) for part in parts], workers, small)
    else:
        _pool.run(_Job(function, parts[::-1]), workers)
