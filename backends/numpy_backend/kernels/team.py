"""Parts of compiled loops in several threads, which hand them over without the interpreter.

A part is packed: the address of machine code, and behind it the arguments. The thread that has
parts publishes where they lie, takes one after the other itself, and waits for those that others
have begun. The others look for parts for a moment after the last one, awake, and then sleep: to
wake a thread takes as long as a loop over a hundred thousand elements. A thread whose processor
was given to somebody else sleeps at once for a while.

What is shared are whole numbers in memory. TURN is the number of the job, and of its next part:
who puts that up by one has the part. It is closed while the rest is written, so nobody takes a
part of a job that is half there.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from queue import SimpleQueue
from typing import Any

import numpy as np

try:
    import resource as _usage
except ImportError:  # Windows has none
    _usage = None  # type: ignore[assignment]

from backends.numpy_backend.kernels.compiler import compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted

TURN, OWNER, DONE, COUNT, PARTS, HELPERS = 0, 8, 16, 24, 25, 26  # on cache lines of their own
SIZE = 32
STRIDE = 2048  # bytes of a part
LOOKING = 200_000  # nanoseconds without a part after which a thread sleeps
BUSY = 10_000_000  # the same for which it does not look, once its processor was given away
_JOB = 1 << 32
_NONE = _JOB - 1  # the number of the part while TURN is closed


def _run(e: Emitter, part: Any, thread: Any) -> None:
    """Compute a part: at its address stands that of the function for what follows."""
    [function] = e.numbers(e.pointer(part), 1)
    e.call(function, part, thread)


def _work(e: Emitter, shared: Any, helper: Any) -> Any:
    """Compute parts as long as there are some; a variable says whether there was one."""
    found, left = e.variable(e.number(0)), e.variable(e.number(1))
    with e.repeat(lambda: left.get().is_not(0)):
        left.set(e.number(0))
        turn = e.current(e.at(shared, TURN))
        number, job = turn & _NONE, (COUNT, PARTS, HELPERS)
        count, parts, helpers = [e.current(e.at(shared, place)) for place in job]
        with e.when(e.both(number < count, helper <= helpers)):
            left.set(e.number(1))
            with e.when(e.replaced(e.at(shared, TURN), turn, turn + 1)):
                found.set(e.number(1))
                _run(e, parts + number * STRIDE, helper)
                e.add_to(e.at(shared, DONE), 1)
    return found


@emitted
def _look(e: Emitter, shared: Any, helper: Any, times: Any) -> None:
    shared = e.pointer(shared)
    look = e.variable(times)
    with e.repeat(lambda: look.get().is_not(0)):
        found = _work(e, shared, helper).get()
        look.set(e.choose(found.is_not(0), times, look.get() - 1))
        e.pause()


@emitted
def _publish(
    e: Emitter, shared: Any, parts: Any, count: Any, helpers: Any, times: Any, rest: Any
) -> None:
    shared = e.pointer(shared)
    with e.whether(e.replaced(e.at(shared, OWNER), e.number(0), e.number(1))) as (ours, taken):
        with ours:
            job = e.current(e.at(shared, TURN)) // _JOB * _JOB
            e.publish(job + _NONE, e.at(shared, TURN))
            e.publish(e.number(0), e.at(shared, DONE))
            for number, place in ((count, COUNT), (parts, PARTS), (helpers, HELPERS)):
                e.publish(number, e.at(shared, place))
            e.publish(job + _JOB, e.at(shared, TURN))
            _work(e, shared, e.number(0))
            wait = e.variable(times)
            with e.repeat(lambda: e.current(e.at(shared, DONE)).is_not(count)):
                e.pause()
                with e.whether(wait.get().is_not(0)) as (soon, late):
                    with soon:
                        wait.set(wait.get() - 1)
                    with late:
                        e.call(rest)
            e.publish(e.number(0), e.at(shared, OWNER))
        with taken, e.loop(count) as i:
            _run(e, parts + i * STRIDE, e.number(0))


@compiled
def look(shared: int, helper: int, times: int) -> None:
    """Compute parts until none was found so many times."""
    _look(shared, helper, times)


@compiled
def publish(shared: int, parts: int, count: int, helpers: int, times: int, rest: int) -> None:
    """Compute all parts with the first helpers, or alone if these have another job."""
    _publish(shared, parts, count, helpers, times, rest)


class Team:
    """Threads that help to compute parts."""

    def __init__(self) -> None:
        self._memory = np.zeros(SIZE + 8, np.int64)
        address = self._memory.ctypes.data
        self._shared = address + -address % 64
        whole = np.dtype(np.float32)
        self._look, self._publish = look.at(whole), publish.at(whole)
        self._rest = _address_of_rest()
        self._asleep: list[bool] = []
        self._calls: list[SimpleQueue[None]] = []
        self._lock = threading.Lock()
        self._times = self._times_in(LOOKING)

    def _times_in(self, nanoseconds: int) -> int:
        """How often a thread can look for parts in so much time."""
        least = nanoseconds
        for _ in range(5):  # the first call takes longer
            start = time.perf_counter_ns()
            self._look(self._shared, 1, 1000)
            least = min(least, time.perf_counter_ns() - start)
        return nanoseconds * 1000 // max(1, least)

    def run(self, parts: int, count: int, helpers: int) -> None:
        """Compute parts that are packed in memory from an address on."""
        if len(self._asleep) < helpers:
            self._start(helpers)
        for i in range(helpers):
            if self._asleep[i]:
                self._asleep[i] = False
                self._calls[i].put(None)
        self._publish(self._shared, parts, count, helpers, self._times, self._rest)

    def _start(self, helpers: int) -> None:
        with self._lock:
            while len(self._asleep) < helpers:
                self._calls.append(SimpleQueue())
                self._asleep.append(False)
                number = len(self._asleep)
                threading.Thread(
                    target=self._help, args=(number,), name="plugrad-loops", daemon=True
                ).start()

    def _help(self, number: int) -> None:
        busy_until, taken = 0, 0
        while True:
            now = time.perf_counter_ns()
            if taken < (taken := _times_taken()):
                busy_until = now + BUSY
            self._look(self._shared, number, 1 if now < busy_until else self._times)
            self._asleep[number - 1] = True
            self._look(self._shared, number, 1)  # what came while others had the interpreter
            self._calls[number - 1].get()


def _times_taken() -> int:
    """How often this thread had to leave its processor to somebody else; 0 if nobody knows."""
    if _usage is None or not hasattr(_usage, "RUSAGE_THREAD"):
        return 0
    return _usage.getrusage(_usage.RUSAGE_THREAD).ru_nivcsw


def _address_of_rest() -> int:
    """The address of a function that lets another thread have the processor."""
    if sys.platform == "win32":
        function = ctypes.WinDLL("kernel32").SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_own = threading.local()
_team: Team | None = None
_making = threading.Lock()


def run(packers: list[Any], parts: list[tuple[Any, ...]], helpers: int) -> None:
    """Compute parts, each packed by its `pack(*part, address)`, in this thread and others."""
    team = _team or _make()
    room = getattr(_own, "room", None)
    if room is None or room[1] < len(parts):
        memory = np.empty(len(parts) * STRIDE, np.uint8)
        room = _own.room = memory.ctypes.data, len(parts), memory
    address = first = room[0]
    for pack, part in zip(packers, parts, strict=True):
        pack(*part, address)
        address += STRIDE
    team.run(first, len(parts), helpers)


def _make() -> Team:
    global _team
    with _making:
        if _team is None:
            _team = Team()
        return _team


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _team, _making
    _team, _making = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
