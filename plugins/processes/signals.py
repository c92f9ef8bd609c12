"""Processes that help a training, and leave signals to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

_ASKING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let signals that ask to stop wait for the end of the block.

    A process that is started in it has them wait until it calls `leave_signals`: one that is sent
    to all processes of a job does not end it while it begins.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # which starts with the first process, and wakes signals
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, _ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def leave_signals() -> None:
    """Ignore signals that ask to stop: the training decides, and may need this process to save."""
    for number in _ASKING:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKING)
