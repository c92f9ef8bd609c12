"""Signals that ask a training to end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType
from typing import Any

_ASKING = (signal.SIGINT, signal.SIGTERM)
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


class Interrupted(SystemExit, KeyboardInterrupt):
    """Raised when training has ended in good order after SIGINT.

    A script ends without a traceback, and shells say 130: with this status, from Python 3.14 on by
    the signal. Who catches KeyboardInterrupt gets it.
    """


class Interruption:
    """A block in which SIGINT and SIGTERM are noted in `received` instead of obeyed at once.

    When it is left, the previous handlers are back, and a signal that was noted ends the process:
    SystemExit is raised with the status 128 + signal, which shells expect; for SIGINT where someone
    types commands, in a notebook as well, KeyboardInterrupt alone. A second signal is obeyed at
    once.

    Only the main thread can handle signals: elsewhere nothing changes. Neither does it for a
    signal that is ignored or has a handler of the user's, who has decided already.
    """

    received: signal.Signals | None = None

    def __enter__(self) -> Interruption:
        self._process = os.getpid()
        self._previous: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in _ASKING:
                if signal.getsignal(number) in _DEFAULTS:
                    self._previous[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._restore()
        if os.getpid() == self._process:
            self.received = signal.Signals(number)
        else:  # a forked worker, whose end nobody is to wait for
            os.kill(os.getpid(), number)

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            if signal.getsignal(number) == self._note:
                signal.signal(number, handler)
        self._previous = {}

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._restore()
        if self.received is not None and exc is None:
            if self.received == signal.SIGINT and _interactive():
                raise KeyboardInterrupt  # the session goes on
            if self.received == signal.SIGINT:
                sys.excepthook = partial(_unless_interrupted, sys.excepthook)
                raise Interrupted(128 + self.received)
            raise SystemExit(128 + self.received)


def _unless_interrupted(hook: Callable[..., None], kind: Any, error: Any, traceback: Any) -> None:
    """From Python 3.14 on this is asked of what is a SystemExit and a KeyboardInterrupt, too."""
    if not isinstance(error, Interrupted):
        hook(kind, error, traceback)


def _interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive)
