"""Parts of compiled loops in several threads, which hand them over without the interpreter.

A part is packed: the address of machine code, and behind it the arguments; parts that differ by
where they begin and end are packed as one. The thread that has parts publishes where they lie,
takes one after the other itself, and waits for those that others have begun. The others look for
parts for a moment after the last one, awake, and then sleep: to wake a thread takes as long as a
loop over half a million elements. Once a small part was waited for in vain, because its processor
has something else to do, small parts are left to their owner for some jobs, and threads sleep at
once: the more often that happens the longer.

What is shared are whole numbers in memory. TURN is the number of the job, and of its next part:
who puts that up by one has the part. It is closed while the rest is written, so nobody takes a
part of a job that is half there.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiler import Indices, compiled
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.kernels.packing import STRIDE, check

TURN, OWNER, DONE = 0, 8, 16  # each on a cache line of its own
COUNT, PARTS, STEP, HELPERS, TIMES, PATIENCE, LATE, ALONE = range(24, 32)
WAKE, WAIT, WAITING, DOOR, STOP = range(32, 37)
FIRST, EACH, ASLEEP, LOCK = 40, 8, 0, 1  # of each helper: whether it sleeps, and on what
MOST = 256  # helpers
FIELDS = 5  # numbers of a call that is made in order: address, step, count, helpers, small
HEAD = object.__basicsize__  # bytes of an array's object before the address of its elements
LOOKING = 1_000_000  # nanoseconds without a part after which a thread sleeps
IN_VAIN = 500_000  # nanoseconds after which whoever waits for a part sleeps
SOME, MANY = 16, 256  # jobs, of which small ones are not shared after one was waited for in vain
_JOB = 1 << 32
_NONE = _JOB - 1  # the number of the part while TURN is closed


def _run(e: Emitter, packed: Any, thread: Any, number: Any) -> None:
    """Compute a part: at its address stands that of the function for what follows."""
    [function] = e.numbers(e.pointer(packed), 1)
    e.call(function, packed, thread, number)


def _work(e: Emitter, shared: Any, helper: Any) -> Any:
    """Compute parts as long as there are some; a variable says whether there was one."""
    found, left = e.variable(e.number(0)), e.variable(e.number(1))
    with e.repeat(lambda: left.get().is_not(0)):
        left.set(e.number(0))
        turn = e.current(e.at(shared, TURN))
        number, job = turn & _NONE, (COUNT, PARTS, STEP, HELPERS)
        count, parts, step, helpers = [e.current(e.at(shared, place)) for place in job]
        with e.when(e.both(number < count, helper <= helpers)):
            left.set(e.number(1))
            with e.when(e.replaced(e.at(shared, TURN), turn, turn + 1)):
                found.set(e.number(1))
                _run(e, parts + number * step, helper, number)
                done, waiting = e.add_to(e.at(shared, DONE), 1) + 1, e.at(shared, WAITING)
                with (
                    e.when(done.equals(count)),
                    e.when(e.replaced(waiting, e.number(1), e.number(0))),
                ):
                    e.call(e.current(e.at(shared, WAKE)), e.current(e.at(shared, DOOR)))
    return found


def _sleep(e: Emitter, shared: Any, count: Any) -> None:
    """Sleep until the last part is computed, or until somebody thought so of an earlier job."""
    waiting, asked = e.at(shared, WAITING), e.variable(e.number(1))
    e.publish(e.number(1), waiting)
    with (
        e.when(e.current(e.at(shared, DONE)).equals(count)),
        e.when(e.replaced(waiting, e.number(1), e.number(0))),
    ):
        asked.set(e.number(0))  # nobody will open the door
    with e.when(asked.get().is_not(0)):
        e.call(e.current(e.at(shared, WAIT)), e.current(e.at(shared, DOOR)), e.number(1))


def _of(e: Emitter, shared: Any, helper: Any, place: int) -> Any:
    """The pointer to what belongs to a helper."""
    return e.at(shared, helper * EACH + (FIRST - EACH + place))


@emitted
def _look(e: Emitter, shared: Any, helper: Any, times: Any) -> None:
    """Compute parts until none was found so many times."""
    pointer, look = e.pointer(shared), e.variable(times)
    with e.repeat(lambda: look.get().is_not(0)):
        found = _work(e, pointer, helper).get()
        look.set(e.choose(found.is_not(0), times, look.get() - 1))
        e.pause()


@emitted
def _help(e: Emitter, shared: Any, helper: Any) -> None:
    pointer = e.pointer(shared)
    with e.repeat(lambda: e.current(e.at(pointer, STOP)) < 1):
        late = e.current(e.at(pointer, LATE)).is_not(0)
        _look(e, shared, helper, e.choose(late, 1, e.current(e.at(pointer, TIMES))))
        e.publish(e.number(1), _of(e, pointer, helper, ASLEEP))
        _look(e, shared, helper, 1)  # for what was published just before
        lock = e.current(_of(e, pointer, helper, LOCK))
        e.call(e.current(e.at(pointer, WAIT)), lock, e.number(1))


@emitted
def _publish(
    e: Emitter, shared: Any, parts: Any, step: Any, count: Any, helpers: Any, small: Any
) -> None:
    shared = e.pointer(shared)

    def at(place: int) -> Any:
        return e.at(shared, place)

    with e.whether(e.replaced(at(OWNER), e.number(0), e.number(1))) as (ours, taken):
        with ours:
            late = e.current(at(LATE))
            e.publish(e.choose(late < 1, 0, late - 1), at(LATE))
            helpers = e.choose((late * small).is_not(0), 0, helpers)
            turn = e.current(at(TURN)) // _JOB * _JOB
            e.publish(turn + _NONE, at(TURN))
            e.publish(e.number(0), at(DONE))
            job = ((count, COUNT), (parts, PARTS), (step, STEP), (helpers, HELPERS))
            for number, place in job:
                e.publish(number, at(place))
            e.publish(turn + _JOB, at(TURN))
            judged = e.variable(small)  # not where somebody had to be woken, which takes its time
            with e.loop(helpers + 1, 1, 1) as helper:
                asleep = _of(e, shared, helper, ASLEEP)
                with e.when(e.replaced(asleep, e.number(1), e.number(0))):
                    judged.set(e.number(0))
                    e.call(e.current(at(WAKE)), e.current(_of(e, shared, helper, LOCK)))
            _work(e, shared, e.number(0))
            wait = e.variable(e.current(at(PATIENCE)))
            alone = e.current(at(ALONE))
            shorter = e.choose((small * helpers).is_not(0), alone - 1, alone)
            then = e.variable(e.choose(shorter < SOME, SOME, shorter))
            with e.repeat(lambda: e.current(at(DONE)).is_not(count)):
                e.pause()
                with e.whether(wait.get().is_not(0)) as (soon, in_vain):
                    with soon:
                        wait.set(wait.get() - 1)
                    with in_vain:
                        with e.when(judged.get().is_not(0)):
                            e.publish(alone, at(LATE))
                            then.set((alone * 2).least(MANY))
                        _sleep(e, shared, count)
            e.publish(then.get(), at(ALONE))
            e.publish(e.number(0), at(OWNER))
        with taken, e.loop(count) as i:
            _run(e, parts + i * step, e.number(0), i)


@compiled
def look(shared: int, helper: int, times: int) -> None:
    """Compute parts of others until none was found so many times."""
    _look(shared, helper, times)


@compiled
def help_others(shared: int, helper: int) -> None:
    """Compute parts of others until it is told to stop."""
    _help(shared, helper)


@compiled
def publish(shared: int, parts: int, step: int, count: int, helpers: int, small: int) -> None:
    """Compute all parts with the first helpers, or alone if these have another job."""
    _publish(shared, parts, step, count, helpers, small)


@emitted
def _alone(e: Emitter, packed: Any) -> None:
    _run(e, packed, e.number(0), e.number(0))


@emitted
def _point(e: Emitter, place: Any, array: Any, beyond: Any) -> None:
    """Write the address of an array's elements, which its object has behind its head."""
    [address] = e.numbers(e.pointer(array + HEAD), 1)
    e.write((address + beyond).value, e.pointer(place))


@compiled
def in_order(shared: int, calls: Indices, moves: Indices, arrays: Indices) -> None:
    """Make calls that are packed, one after the other: of each what `publish` takes.

    Before, put the addresses of arrays where the calls have them: moves are of a place, the number
    of an array, and how many bytes behind its first element.
    """
    for i in range(0, moves.size, 3):
        _point(moves[i], arrays[moves[i + 1]], moves[i + 2])
    for i in range(0, calls.size, FIELDS):
        if calls[i + 3]:
            _publish(shared, calls[i], calls[i + 1], calls[i + 2], calls[i + 3], calls[i + 4])
        else:
            _alone(calls[i])


class Team:
    """Threads that help to compute parts."""

    def __init__(self) -> None:
        size = FIRST + MOST * EACH
        # Helpers may read it as long as the process lives, so it is never given back.
        memory = _python("PyMem_RawCalloc", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(
            size + EACH, 8
        )
        self._shared = memory + -memory % 64
        self._numbers = (ctypes.c_int64 * size).from_address(self._shared)
        self._help, self._publish = (loop.at(np.dtype("f")) for loop in (help_others, publish))
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._allocate = _python("PyThread_allocate_lock", ctypes.c_void_p)
        self._take = _python("PyThread_acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        self._leave = _python("PyThread_release_lock", None, ctypes.c_void_p)
        self._numbers[WAIT], self._numbers[WAKE] = _address(self._take), _address(self._leave)
        self._numbers[DOOR] = self._closed()
        self._numbers[TIMES] = self._times_in(LOOKING)
        self._numbers[PATIENCE] = self._times_in(IN_VAIN)
        self._numbers[ALONE] = SOME

    def _times_in(self, nanoseconds: int) -> int:
        """How often a thread can look for parts in so much time."""
        spin, least = look.at(np.dtype("f")), nanoseconds
        for _ in range(5):  # the first call takes longer
            start = time.perf_counter_ns()
            spin(self._shared, MOST, 1000)
            least = min(least, time.perf_counter_ns() - start)
        return nanoseconds * 1000 // max(1, least)

    def run(self, parts: int, step: int, count: int, helpers: int, small: bool) -> None:
        """Compute parts that are packed in memory from an address on, so many bytes apart."""
        helpers = self._ready(helpers)
        self._publish(self._shared, parts, step, count, helpers, small)

    def run_in_order(self, calls: Any, moves: Any, arrays: list[Any], helpers: int) -> None:
        """Make calls one after the other, as `in_order` does, with so many helpers at most."""
        self._ready(helpers)
        make = in_order.at(np.dtype("f"))
        make(self._shared, calls, moves, np.array([*map(id, arrays)]))

    def _ready(self, helpers: int) -> int:
        """How many of so many helpers there can be, which are started."""
        if len(self._threads) < helpers:
            helpers = min(helpers, MOST)
            if self._lock.acquire(blocking=False):  # else somebody starts them already
                try:
                    self._start(helpers)
                finally:
                    self._lock.release()
        return helpers

    def _closed(self) -> Any:
        """A lock that is taken: who takes it sleeps until somebody else leaves it."""
        lock = self._allocate()
        self._take(lock, 1)
        return lock

    def _start(self, helpers: int) -> None:
        while len(self._threads) < helpers:
            number = len(self._threads) + 1
            lock = FIRST + (number - 1) * EACH + LOCK
            self._numbers[lock] = self._numbers[lock] or self._closed()
            thread = threading.Thread(
                target=self._help, args=(self._shared, number), name="plugrad-loops"
            )
            thread.daemon = True
            self._threads.append(thread)  # at once: two of one number would share their room
            try:
                thread.start()
            except RuntimeError:  # no more threads are to be had: others compute its parts
                self._threads.pop()
                return

    def stop(self) -> None:
        """End all helpers, before the machine code goes that they run."""
        with self._lock:
            self._numbers[STOP] = 1
            for number in range(len(self._threads)):
                self._leave(int(self._numbers[FIRST + number * EACH + LOCK]))
            for thread in self._threads:
                if thread.is_alive():  # else its start was interrupted
                    thread.join(1)


def _python(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the interpreter that needs no lock of it."""
    function = ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
    return function


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_own = threading.local()
_team: Team | None = None
_making = threading.RLock()


def run(packers: list[Any], parts: list[tuple[Any, ...]], helpers: int, small: bool) -> None:
    """Compute parts, each packed by its `pack(*part, 0, address)`, in this thread and others."""
    team, room = _team or _make(), _take_room(len(parts))
    address = room[0]
    for pack, part in zip(packers, parts, strict=True):
        pack(*part, 0, address)
        address += STRIDE
    team.run(room[0], STRIDE, len(parts), helpers, small)
    _own.room = room
    check(room[2][: len(parts)])


def share(pack: Any, arguments: tuple[Any, ...], count: int, helpers: int, small: bool) -> None:
    """Compute so many parts of equal size, packed as one by `pack(*arguments, count, address)`."""
    team, room = _team or _make(), _take_room(1)
    pack(*arguments, count, room[0])
    team.run(room[0], 0, count, helpers, small)
    _own.room = room
    check(room[2][:1])


def run_in_order(calls: Any, moves: Any, arrays: list[Any], helpers: int) -> None:
    """Make calls of what has been packed, one after the other, with these arrays."""
    (_team or _make()).run_in_order(calls, moves, arrays, helpers)


def points(array: Any) -> bool:
    """Whether the address of its elements lies where `in_order` reads it."""
    found = ctypes.c_void_p.from_address(id(array) + HEAD).value
    return bool(found == array.__array_interface__["data"][0])


def _take_room(size: int) -> tuple[int, int, Any]:
    """An address, for how many parts there is room, and what holds the memory."""
    # A signal's handler may compute while parts are packed: it finds no room, and makes its own.
    room: tuple[int, int, Any] | None = _own.__dict__.pop("room", None)
    if room is None or room[1] < size:
        memory = np.empty((size, STRIDE // 8), np.int64)
        room = memory.ctypes.data, size, memory
    return room


def _make() -> Team:
    global _team
    with _making:
        if _team is None:
            _team = Team()
        return _team


@atexit.register
def _stop() -> None:
    if _team is not None:
        _team.stop()


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _team, _making
    _team, _making = None, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
