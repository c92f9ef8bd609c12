"""What runs in a worker process: it calls methods of what it holds, and hands answers over."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from core.errors import CoreError
from plugins.processes.folders import remove
from plugins.processes.ipc import send
from plugins.processes.signals import leave_signals

_NAMES = ("SIGTERM", "SIGHUP", "SIGQUIT")
_ENDING = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
_MEANWHILE = 0.3  # seconds in which a signal ends the main process, if it does


class WorkerError(CoreError, RuntimeError):
    """An error of a worker process whose own class cannot be handed over."""


class Held(Protocol):
    """What a worker holds: its methods are what it can be asked for.

    `prepare` comes before the first of them. `unsendable` says what is wrong where an answer cannot
    be pickled, with the arguments of the method as `{0}`, `{1}`, ...
    """

    unsendable: str

    def prepare(self) -> None:
        """Make the process ready, in it."""


class Failure(NamedTuple):
    """What a worker hands over when there is no answer: the error as far as it can be pickled."""

    pickled: bytes | None
    text: str
    notes: tuple[str, ...]

    def error(self) -> BaseException:
        """The error as the main process can raise it, with notes that say where it was met."""
        try:
            error: BaseException = pickle.loads(self.pickled or b"")
        except Exception:
            error = WorkerError(self.text)
        for note in self.notes:
            error.add_note(note)
        return error


class _Here:
    """What this process holds, and where it puts long answers."""

    held: Any
    name: str
    folders: Sequence[Path]
    ready = False


_numbers = count()


def start(held: Held, name: str, folders: Sequence[Path], stay: bool) -> None:
    """Begin; what can go wrong is left to the first call, which can tell of errors."""
    if stay:
        leave_signals()
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides when to stop
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, partial(_end, folders))
    threading.Thread(target=_end_with_parent, args=(folders,), daemon=True).start()
    _Here.held, _Here.name, _Here.folders = held, name, folders


def _end_with_parent(folders: Sequence[Path]) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        remove(folders)
        os._exit(1)


def _end(folders: Sequence[Path], number: int, frame: Any) -> None:
    """End by a signal, and last: one that all processes of a job get leaves nobody else to remove
    what they share.
    """
    signal.signal(number, signal.SIG_IGN)  # it may come twice
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join(_MEANWHILE)
        if not parent.is_alive():
            remove(folders)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def get_ready() -> None:
    """Prepare what is held, once."""
    if not _Here.ready:
        _Here.held.prepare()
        _Here.ready = True


def call(method: str, arguments: tuple[Any, ...], shared: int | None) -> bytes | str:
    """Hand over what a method gives, or a failure."""
    try:
        get_ready()
        answer = getattr(_Here.held, method)(*arguments)
    except BaseException as error:  # a SystemExit would reach the main process, and end that
        return _hand_over(_failure(error))
    try:
        return _hand_over(answer, shared)
    except OSError as error:
        error.add_note(f"There is no room to hand over what {_Here.name} has made.")
        return _hand_over(_failure(error))
    except Exception as error:
        error.add_note(_Here.held.unsendable.format(*arguments))
        return _hand_over(_failure(error))


def _hand_over(answer: Any, shared: int | None = None) -> bytes | str:
    return send(answer, _Here.folders, f"{os.getpid()}-{next(_numbers)}", shared)


def _failure(error: BaseException) -> Failure:
    notes = error.__dict__.pop("__notes__", [])
    told = "".join(traceback.format_exception(error))
    notes = (*notes, f"Raised in {_Here.name}:\n{told}")
    text = f"{type(error).__name__}: {error}"
    if not isinstance(error, Exception):
        return Failure(None, text, notes)
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        return Failure(None, text, notes)
    return Failure(pickled, text, notes)
