"""Threads and recordings: while one records a step, nobody else may be in a step of the same links.

A recording lets parameters hold arrays without values for its time. So it waits until other threads
have left the captured steps of its links, and those that come wait until it is done. It waits for a
while alone, for threads may wait for each other within their steps.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Condition, get_ident
from typing import Any
from weakref import WeakKeyDictionary

PATIENCE = 1.0
"""So many seconds a recording waits for other threads; then it is made another time."""

LONGEST = 60.0
"""So many seconds others wait for a recording, which may wait for them; then they go on."""

_changed = Condition()


class Gate:
    """The threads that are in captured steps of a link, and the one that records, or is about to.

    Who comes first is inside, and then looks whether somebody records; who records first says so,
    and then looks whether somebody is inside. So one of them sees the other.
    """

    def __init__(self) -> None:
        self.inside: list[int] = []
        self.recording: int | None = None

    def keeps_out(self, thread: int) -> bool:
        """Whether a thread that has come has to wait; not if it was inside before."""
        recording = self.recording
        return recording is not None and recording != thread and self.inside.count(thread) == 1

    def others(self, thread: int) -> bool:
        """Whether other threads are inside."""
        return any([known != thread for known in self.inside])


def _after_fork() -> None:
    """In a forked process there is one thread, and nobody else is inside."""
    global _changed
    _changed = Condition()
    me = get_ident()
    for gate in _gates.values():
        gate.inside = [known for known in gate.inside if known == me]
        gate.recording = gate.recording if gate.recording == me else None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

_gates: WeakKeyDictionary[Any, Gate] = WeakKeyDictionary()


def gates_of(links: Iterable[Any]) -> list[Gate]:
    """One for each link."""
    with _changed:
        return [_gates.setdefault(link, Gate()) for link in dict.fromkeys(links)]


def enter(gates: list[Gate]) -> None:
    """Be inside, when nobody else records."""
    me, waits = get_ident(), True
    while True:
        for gate in gates:
            gate.inside.append(me)
        if not waits or not any([gate.keeps_out(me) for gate in gates]):
            return
        leave(gates)
        with _changed:
            waits = _changed.wait_for(
                lambda: all([gate.recording in (None, me) for gate in gates]), LONGEST
            )


def leave(gates: list[Gate]) -> None:
    """Be inside no more."""
    me = get_ident()
    for gate in gates:
        gate.inside.remove(me)
        if gate.recording is not None:
            with _changed:
                _changed.notify_all()


@contextmanager
def alone(gates: list[Gate]) -> Iterator[bool]:
    """A context of which other threads are kept out; False where they do not leave."""
    me = get_ident()
    with _changed:
        free = all([gate.recording in (None, me) for gate in gates])
        mine = [gate for gate in gates if free and gate.recording is None]
        for gate in mine:
            gate.recording = me
        free = free and _changed.wait_for(
            lambda: not any([gate.others(me) for gate in gates]), PATIENCE
        )
    try:
        yield free
    finally:
        with _changed:
            for gate in mine:
                gate.recording = None
            _changed.notify_all()
